import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withMemoryDefaults } from './memory-environment.js';

describe('the environment of our processes', () => {
  const defaults = { MALLOC_ARENA_MAX: '1', NODE_OPTIONS: '--max-semi-space-size=8' };

  it('keeps their memory small', () => {
    expect(withMemoryDefaults({ HOME: '/' })).toEqual({ HOME: '/', ...defaults });
  });

  it('leaves to operators what they have said', () => {
    const said = { MALLOC_ARENA_MAX: '4', NODE_OPTIONS: '--max-semi-space-size=32' };
    expect(withMemoryDefaults(said)).toEqual(said);
  });

  it('keeps other options of Node', () => {
    const { NODE_OPTIONS } = withMemoryDefaults({ NODE_OPTIONS: '--max-old-space-size=400' });
    expect(NODE_OPTIONS).toBe('--max-semi-space-size=8 --max-old-space-size=400');
  });

  it('is that of the image', () => {
    const dockerfile = readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8');
    const said = [...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = '']) => line.split(' '));
    expect(said).toEqual(expect.arrayContaining(Object.entries(defaults).map((pair) => pair.join('='))));
  });
});
