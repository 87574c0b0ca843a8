import { randomUUID } from 'node:crypto';
import { SystemClock } from '../src/machinery/clock/index.js';
import { BullMqWorkQueue } from '../src/redis/work-queue/bullmq-work-queue.js';
import { BullMqWorkQueueConsumer } from '../src/redis/work-queue/bullmq-consumer.js';
import { startTestRedisServer } from '../src/testing/redis-server.js';
import { waitFor } from '../src/testing/wait-for.js';
import { number, readFlags } from '../test/support/flags.js';

const { busy, rounds, workers, workMs } = readFlags('npm run bench -- --fair-share', {
  busy: number('changes of the busy namespace', 5000),
  workers: number('keys worked on at once', 5),
  workMs: number('milliseconds that each takes', 5),
  rounds: number('times that everything is measured', 3),
});

/** How long a change waited. */
interface Wait {
  readonly runsBefore: number;
  readonly ms: number;
  readonly addsPerSecond: number;
}

const server = await startTestRedisServer();
try {
  for (let round = 1; round <= rounds; round++) {
    const together = await waitOf('busy/last');
    const apart = await waitOf('quiet/one');
    console.log(
      `round ${round}: ${Math.round(apart.addsPerSecond)} adds/s; behind ${busy} changes of its own namespace ${told(together)}; of another ${told(apart)}`,
    );
  }
} finally {
  await server.stop();
}

function told({ ms, runsBefore }: Wait): string {
  return `${runsBefore} runs and ${Math.round(ms)} ms`;
}

/** How long this key waits when it is added after all those of the busy namespace. */
async function waitOf(key: string): Promise<Wait> {
  const clock = new SystemClock();
  const queue = new BullMqWorkQueue({ name: randomUUID(), redisUrl: server.url, clock });
  const stop = new AbortController();
  try {
    await queue.add('warm/up');
    let runsBefore = 0;
    let ranAtMs: number | undefined;
    const held = Promise.withResolvers<void>();
    const handler = async (item: { readonly key: string }): Promise<void> => {
      await held.promise;
      await clock.sleep(workMs);
      if (item.key === key) ranAtMs = performance.now();
      else if (ranAtMs === undefined) runsBefore += 1;
    };
    const running = new BullMqWorkQueueConsumer({ queue }).run(
      handler,
      { concurrency: workers },
      stop.signal,
    );
    const startMs = performance.now();
    await Promise.all(
      Array.from({ length: busy }, (_, index) => queue.add(`busy/${index}`, { priority: 'high' })),
    );
    const addsPerSecond = (busy / (performance.now() - startMs)) * 1000;
    await queue.add(key, { priority: 'high' });
    const addedAtMs = performance.now();
    held.resolve();
    await waitFor(() => ranAtMs !== undefined, { timeoutMs: 120_000, intervalMs: 20 });
    stop.abort();
    await running;
    return { runsBefore, ms: (ranAtMs ?? 0) - addedAtMs, addsPerSecond };
  } finally {
    stop.abort();
    await queue.close();
  }
}
