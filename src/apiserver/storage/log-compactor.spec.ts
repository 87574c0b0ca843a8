import { expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { LogCompactor } from './log-compactor.js';
import { compileRedisStorageOptions } from './redis-storage.options.js';

const MINUTE_MS = 60_000;

it('lets a page expire between five and six minutes after it was read, and not before', async () => {
  const clock = new FakeClock();
  const { maxLogAgeMs } = compileRedisStorageOptions({ url: 'redis://localhost' });
  const compacted: number[] = [];
  let revision = 7;
  const log = {
    currentRevision: async () => revision,
    compact: async (to: number) => void compacted.push(to),
  };
  const compactor = new LogCompactor(clock, maxLogAgeMs, log, (error) => {
    throw error;
  });
  const stop = new AbortController();
  const run = compactor.run(stop.signal);
  await clock.advance(1);
  revision = 8;
  await clock.advance(5 * MINUTE_MS - 2);
  expect(compacted).toEqual([]);
  await clock.advance(MINUTE_MS + 2);
  expect(compacted[0]).toBe(7);
  expect(compacted).toContain(8);
  stop.abort();
  await run;
});
