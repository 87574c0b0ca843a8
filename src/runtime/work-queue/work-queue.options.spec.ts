import { describe, expect, it } from 'vitest';
import { compileWorkQueueOptions } from './work-queue.options.js';

describe('work queue options', () => {
  it('have the documented defaults', () => {
    expect(compileWorkQueueOptions()).toEqual({
      maxRetries: 15,
      parkedRetryMs: 180_000,
      backoffBaseMs: 5,
      backoffMaxMs: 1_000_000,
      bucketRatePerSecond: 10,
      bucketBurst: 100,
      agingMs: 5000,
      spreadAfterMs: 0,
      lockDurationMs: 2000,
      stalledIntervalMs: 300,
      drainTimeoutMs: 10_000,
      maintenanceIntervalMs: 1000,
      strayAfterMs: 5000,
    });
  });

  it.each([
    { name: 'a negative number', options: { maxRetries: -1 }, option: 'maxRetries' },
    {
      name: 'a longest backoff below the first',
      options: { backoffBaseMs: 10, backoffMaxMs: 5 },
      option: 'backoffMaxMs',
    },
    {
      name: 'a check for stalled jobs that is rarer than locks end',
      options: { lockDurationMs: 300, stalledIntervalMs: 300 },
      option: 'stalledIntervalMs',
    },
    {
      name: 'a takeover of more than three seconds',
      options: { lockDurationMs: 2500 },
      option: 'lockDurationMs',
    },
  ])('refuse $name, naming the option', ({ options, option }) => {
    expect(() => compileWorkQueueOptions(options)).toThrow(option);
  });
});
