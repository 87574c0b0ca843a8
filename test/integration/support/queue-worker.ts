import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { SystemClock } from '../../../src/machinery/clock/index.js';
import type { WorkHandler } from '../../../src/runtime/work-queue/index.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../../src/redis/index.js';
import { proofKeys } from './queue-proof.js';

/**
 * One worker process of the tests: `queue-worker.ts <redis url> <key prefix>`. It proves in Redis what happened,
 * under {@link proofKeys}: who entered which key while another was inside, which version of a key it saw, which
 * keys it started and whose signal aborted. A key that begins with `hang` keeps its handler until its signal aborts.
 */
const [redisUrl = '', keyPrefix = ''] = process.argv.slice(2);
const clock = new SystemClock();
const redis = new Redis(redisUrl);
const proof = proofKeys(keyPrefix);
const pid = String(process.pid);

const handler: WorkHandler = async (item, signal) => {
  await redis.rpush(proof.started(item.key), pid);
  if (item.key.startsWith('hang')) return hang(item.key, signal);
  if ((await redis.set(proof.inside(item.key), pid, 'NX')) === null)
    await redis.rpush(proof.violations, item.key);
  const version = await redis.hget(proof.versions, item.key);
  await sleep((Number(version) * 7) % 16);
  await redis
    .multi()
    .hset(proof.seen, item.key, version ?? '')
    .del(proof.inside(item.key))
    .exec();
};

async function hang(key: string, signal: AbortSignal): Promise<void> {
  if ((await redis.llen(proof.started(key))) > 1) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const { code } = signal.reason as { code?: string };
  await redis.rpush(proof.aborted(key), `${pid} ${code ?? ''}`);
}

const queue = new BullMqWorkQueue({ name: 'test', redisUrl, keyPrefix, clock });
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const run = new BullMqWorkQueueConsumer({ queue }).run(handler, { concurrency: 4 }, stop.signal);
process.send?.('ready');
await run;
await queue.close();
redis.disconnect();
process.disconnect?.();
