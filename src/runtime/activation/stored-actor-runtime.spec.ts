import { describe, expect, it } from 'vitest';
import { compileActorOptions } from './stored-actor-runtime.js';

describe('actor options', () => {
  it('have the documented defaults', () => {
    expect(compileActorOptions()).toEqual({
      lockDurationMs: 2500,
      idleTtlMs: 3_600_000,
      intentTtlMs: 86_400_000,
      settledTtlMs: 60_000,
    });
  });

  it.each([
    {
      name: 'a lock too short to be told from a stall',
      options: { lockDurationMs: 10 },
      option: 'lockDurationMs',
    },
    { name: 'a state that vanishes under its lock', options: { idleTtlMs: 5000 }, option: 'idleTtlMs' },
    { name: 'intents that vanish before the rest', options: { intentTtlMs: 5000 }, option: 'intentTtlMs' },
  ])('refuse $name, naming the option', ({ options, option }) => {
    expect(() => compileActorOptions(options)).toThrow(option);
  });
});
