import { describe, expect, it } from 'vitest';
import { podNamePrefix, stablePodNames } from './pod-name.js';

const names = (seed: string, count: number, taken: readonly string[] = []) =>
  stablePodNames({ prefix: 'once-', seed, count, isTaken: (name) => taken.includes(name) });

describe('stable names', () => {
  it('are the same whenever they are chosen, and look like generated ones', () => {
    expect(names('u1', 3)).toEqual(names('u1', 3));
    expect(names('u1', 12)).toHaveLength(12);
    for (const name of names('u1', 12)) expect(name).toMatch(/^once-[bcdfghjklmnpqrstvwxz2-9]{5}$/);
  });

  it('go on behind the ones that are taken', () => {
    const [first = '', second, third] = names('u1', 3);
    expect(names('u1', 2, [first])).toEqual([second, third]);
  });

  it('are others for another owner', () => {
    expect(names('u1', 5).filter((name) => names('u2', 5).includes(name))).toEqual([]);
  });
});

describe('the beginning of names', () => {
  it('keeps the part of its own, however long the owner’s name is', () => {
    expect(podNamePrefix('once')).toBe('once-');
    expect(podNamePrefix('once', '-12')).toBe('once-12-');
    expect(podNamePrefix('x'.repeat(63), '-12')).toBe(`${'x'.repeat(54)}-12-`);
  });
});
