import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, it } from 'vitest';
import type { RandomSource } from '../../../src/machinery/clock/index.js';
import { BullMqWorkQueueConsumer, RedisActivationQueue } from '../../../src/redis/index.js';
import { Kernel, SimulatedProcess } from '../../../src/testing/simulation/index.js';
import { delayingNetwork } from '../../../src/testing/simulation/redis/network/network.js';
import { ownTimers } from '../../../src/testing/simulation/redis/own-timers.js';
import { SimulatedRedis } from '../../../src/testing/simulation/redis/simulated-redis.js';

const LONGEST_DELIVERY_MS = 20;
const KEYS = Array.from({ length: 12 }, (_, index) => `ns-${index % 3}/key-${index}`);

/** Requests in the order in which they took effect, with their answers, of a queue on a network whose delays the seed decides. */
async function traceOf(seed: number): Promise<string[]> {
  const kernel = new Kernel({ seed });
  const client = new SimulatedProcess(kernel, 'client');
  const machine = new SimulatedProcess(kernel, 'redis');
  const trace: string[] = [];
  const server = new SimulatedRedis({
    clock: machine.clock,
    network: delayingNetwork({
      after: (delayMs, run) => kernel.after(delayMs, run),
      random: machine.random,
      longestMs: LONGEST_DELIVERY_MS,
    }),
    name: 'deterministic',
    observe: (connection, request, reply) =>
      trace.push(`${kernel.nowMs} ${connection} ${request.join(' ')} -> ${reply}`),
  });
  const giveTimeBack = ownTimers(client.clock);
  const giveIdsBack = ownIds(kernel.randomOf('ids'));
  try {
    let isOver = false;
    const using = useQueue(server, client).finally(() => (isOver = true));
    await kernel.runWhile(() => isOver);
    await using;
    return trace;
  } finally {
    giveIdsBack();
    giveTimeBack();
    server.close();
    kernel.close();
  }
}

async function useQueue(server: SimulatedRedis, { clock, random }: SimulatedProcess): Promise<void> {
  const queue = new RedisActivationQueue({ name: 'test', redisUrl: server.url, clock, random });
  const stop = new AbortController();
  const runs = new Map<string, number>();
  const consumer = new BullMqWorkQueueConsumer({ queue });
  const running = consumer.run(
    async ({ key }) => {
      runs.set(key, (runs.get(key) ?? 0) + 1);
      await clock.sleep(random.next() * 50);
      if (runs.get(key) === 1 && random.next() < 0.5) await queue.addRateLimited(key, new Error('it fails'));
    },
    { concurrency: 3 },
    stop.signal,
  );
  await Promise.all(KEYS.map((key) => queue.add(key)));
  // Every connection breaks once, in the midst of the work.
  await clock.sleep(300);
  for (const { connection } of server.clients) connection.reset();
  while (!KEYS.every((key) => runs.has(key))) await clock.sleep(50);
  stop.abort();
  await running;
  await queue.close();
}

/** BullMQ calls the module for the names of workers and the tokens of locks. */
function ownIds(random: RandomSource): () => void {
  const { randomUUID } = crypto;
  const digits = (count: number): string =>
    Array.from({ length: count }, () => Math.floor(random.next() * 16).toString(16)).join('');
  crypto.randomUUID = () => `${digits(8)}-${digits(4)}-${digits(4)}-${digits(4)}-${digits(12)}`;
  syncBuiltinESMExports();
  return () => {
    crypto.randomUUID = randomUUID;
    syncBuiltinESMExports();
  };
}

describe('BullMQ and ioredis on a simulated Redis, on the time of the simulation', () => {
  it('do the same again when the seed is the same, also after their connections broke', async () => {
    const first = await traceOf(1);
    expect(await traceOf(1)).toEqual(first);
    expect(await traceOf(2)).not.toEqual(first);
    expect(first.length).toBeGreaterThan(100);
  });
});
