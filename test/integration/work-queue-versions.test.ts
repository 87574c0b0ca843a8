import { randomUUID } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../src/redis/index.js';

const clock = new SystemClock();

it('a job of a newer release is left alone by an older one, and kept for the newer', async () => {
  const redisUrl = inject('redisUrl');
  const options = {
    lockDurationMs: 300,
    stalledIntervalMs: 50,
    maintenanceIntervalMs: 50,
    strayAfterMs: 100,
  };
  const queue = new BullMqWorkQueue({ name: 'test', redisUrl, keyPrefix: randomUUID(), clock, options });
  await queue.add('ns/newer');
  const bull = await queue.bullQueue();
  const jobId = (await bull.getDeduplicationJobId('ns/newer')) ?? '';
  const job = await bull.getJob(jobId);
  const data = job?.data as Record<string, unknown>;
  expect(data['v']).toBe(1);
  await job?.updateData({ ...data, v: 2, shape: 'unknown' });
  await queue.add('ns/known');

  const stop = new AbortController();
  const worked: string[] = [];
  let leftAlone = 0;
  const logger = { ...silentLogger, warn: () => void (leftAlone += 1), child: () => logger };
  const running = new BullMqWorkQueueConsumer({ queue, logger }).run(
    async ({ key }) => void worked.push(key),
    { concurrency: 1 },
    stop.signal,
  );
  await waitFor(() => worked.includes('ns/known'));
  // Each time its lock has run out first, and in that time the sweep has looked at it.
  await waitFor(() => leftAlone >= 4);
  expect(worked).toEqual(['ns/known']);
  expect(await bull.getJob(jobId)).toBeDefined();
  const { active, waiting } = await queue.counts();
  expect(waiting + active).toBe(1);

  // As if a newer replica had come: it understands the job.
  await job?.updateData(data);
  await waitFor(() => worked.includes('ns/newer'));
  stop.abort();
  await running;
  await queue.close();
});
