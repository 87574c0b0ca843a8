import { describe, expect, it } from 'vitest';
import { SeededRandom, SystemRandom, uuidOf } from './random-source.js';

const VERSION_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('a UUID of a source of chance', () => {
  it('is one of version 4, and another at each call', () => {
    const random = new SystemRandom();
    const all = Array.from({ length: 500 }, () => uuidOf(random));
    for (const each of all) expect(each).toMatch(VERSION_4);
    expect(new Set(all).size).toBe(all.length);
  });

  it('follows from the seed', () => {
    expect(uuidOf(new SeededRandom(7))).toBe(uuidOf(new SeededRandom(7)));
    expect(uuidOf(new SeededRandom(7))).not.toBe(uuidOf(new SeededRandom(8)));
  });
});
