import { readFileSync } from 'node:fs';
import v8 from 'node:v8';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { replaceFunctions } from '../../testing/replace-functions.js';
import { limitHeapGrowth, withMemoryDefaults } from './memory-environment.js';

describe('the environment of our processes', () => {
  const defaults = {
    MALLOC_ARENA_MAX: '1',
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '131072',
    NODE_OPTIONS: '--max-semi-space-size=8',
  };

  it('keeps their memory small', () => {
    expect(withMemoryDefaults({ HOME: '/' })).toEqual({ HOME: '/', ...defaults });
  });

  it('lets the young generation grow where time is favoured', () => {
    const large = { ...defaults, NODE_OPTIONS: '--max-semi-space-size=16' };
    expect(withMemoryDefaults({ HOME: '/' }, 'time')).toEqual({ HOME: '/', ...large });
  });

  it('leaves to operators what they have said', () => {
    const said = { MALLOC_ARENA_MAX: '4', NODE_OPTIONS: '--max-semi-space-size=32' };
    expect(withMemoryDefaults(said)).toEqual({ ...defaults, ...said });
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

describe('limitHeapGrowth', () => {
  const flags = vi.fn<typeof v8.setFlagsFromString>();
  const { execArgv } = process;
  let restore: () => void;

  beforeEach(() => {
    restore = replaceFunctions(v8, { setFlagsFromString: flags });
  });
  afterEach(() => {
    restore();
    flags.mockClear();
    process.execArgv = execArgv;
  });

  it('tells V8', () => {
    limitHeapGrowth(20);
    expect(flags.mock.calls).toEqual([['--heap-growing-percent=20']]);
  });

  it('leaves to operators what they have said', () => {
    process.execArgv = [...execArgv, '--heap-growing-percent=150'];
    limitHeapGrowth(20);
    expect(flags).not.toHaveBeenCalled();
  });
});
