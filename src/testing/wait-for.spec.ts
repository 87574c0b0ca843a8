import os from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { replaceFunctions } from './replace-functions.js';
import { patienceOf, waitFor } from './wait-for.js';

describe('a wait on the real clock', () => {
  let restore = (): void => undefined;
  afterEach(() => restore());

  const never = (): false => false;

  it('looks at least once, and gives what it was answered', async () => {
    expect(await waitFor(() => 7, { timeoutMs: 0 })).toBe(7);
  });

  it('tells what was waited for in vain, and for how long', async () => {
    await expect(waitFor(never, { timeoutMs: 1, intervalMs: 1, what: 'rain' })).rejects.toThrow(
      /^waited \d+ ms in vain for rain$/,
    );
  });

  it('goes on while the machine has more to do than processors, and no longer than three times', async () => {
    let load = 0;
    restore = replaceFunctions(os, { loadavg: () => [load, 0, 0], availableParallelism: () => 2 });
    const waited = async (): Promise<number> => {
      const message = await waitFor(never, { timeoutMs: 40 }).then(String, (error: Error) => error.message);
      return Number(/\d+/.exec(message)?.[0]);
    };
    expect(await waited()).toBeGreaterThanOrEqual(40);
    load = 4;
    expect(await waited()).toBeGreaterThanOrEqual(80);
    load = 600;
    expect(await waited()).toBeGreaterThanOrEqual(120);
  });

  it.each([
    { load: 0, processors: 2, patience: 1 },
    { load: 2, processors: 2, patience: 1 },
    { load: 5, processors: 2, patience: 2.5 },
    { load: 6, processors: 2, patience: 3 },
    { load: 60, processors: 2, patience: 3 },
  ])(
    'has $patience times its limit at a load of $load on $processors processors',
    ({ patience, ...machine }) => {
      expect(patienceOf(machine.load, machine.processors)).toBe(patience);
    },
  );
});
