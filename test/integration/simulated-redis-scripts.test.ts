import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { RedisStorage } from '../../src/apiserver/storage/index.js';
import { FakeClock } from '../../src/machinery/clock/index.js';
import {
  BullMqWorkQueueConsumer,
  RedisActivationQueue,
  RedisActorRuntime,
  RedisResourceLock,
} from '../../src/redis/index.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { letTimePass } from '../unit/simulated-redis/simulated-time.js';
import { MirroredRedis, isSameButForTime } from './support/mirrored-redis.js';
import { dumpOf } from './support/two-redises.js';

/** Scripts for events that a short run does not have. */
const NOT_REACHED = new Set([
  'clear-stray-4.lua',
  'rebase-turns-4.lua',
  // It counts subscriptions, which are not mirrored.
  'look-1.lua',
  'replace-n.lua',
  'resources-1.lua',
  'writable-1.lua',
]);
const clock = new FakeClock();
let stopTime: () => void;
let server: TestRedisServer;
let mirrored: MirroredRedis;

beforeAll(async () => {
  server = await startTestRedisServer();
  const redis = new Redis(server.url);
  const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? '';
  // Hashes of any size come in the order of insertion, as on the simulated server.
  await redis.config('SET', 'hash-max-listpack-value', '100000', 'hash-max-listpack-entries', '100000');
  redis.disconnect();
  mirrored = new MirroredRedis(Number(new URL(server.url).port), version, clock);
  stopTime = letTimePass(clock);
});
afterAll(async () => {
  stopTime();
  mirrored.close();
  await server.stop();
});

describe('the scripts of this repository and of BullMQ, on a simulated Redis and on a real one', () => {
  it('answer the same, and leave the same keys', async () => {
    const { url } = mirrored.simulated;
    await useQueue(url);
    await useActors(url);
    await useLease(url);
    await useStorage(url);
    const differences: unknown[] = [];
    for (const { real, request, simulated } of mirrored.requests) {
      const answer = await real;
      if (request[0]?.toLowerCase() === 'info' || request[0]?.toLowerCase() === 'hello') continue;
      if (!isSameButForTime(simulated, answer)) differences.push({ request, simulated, real: answer });
    }
    expect(differences.slice(0, 3)).toEqual([]);
    const ask = await mirrored.questions();
    const [simulated, real] = [
      await dumpOf(ask.simulated, isOfTheServer),
      await dumpOf(ask.real, isOfTheServer),
    ].map((dump) => JSON.stringify(dump, null, 1)) as [string, string];
    expect(isSameButForTime(simulated, real) ? real : simulated).toBe(real);
    const sources = new Set(
      mirrored.requests
        .filter(({ request }) => request[0]?.toLowerCase() === 'eval')
        .map(({ request }) => request[1] ?? ''),
    );
    const unused = scriptFiles().filter((words) => ![...sources].some((source) => source.includes(words)));
    expect(unused).toEqual([]);
  });
});

/** Ids of BullMQ's events are times of the server, its check of stalled jobs expires soon, and the store names the server. */
function isOfTheServer(key: string): boolean {
  return [':events', ':stalled-check', '{storage}:meta'].some((end) => key.endsWith(end));
}

async function useQueue(redisUrl: string): Promise<void> {
  const options = {
    maxRetries: 2,
    backoffBaseMs: 1,
    backoffMaxMs: 5,
    maintenanceIntervalMs: 50,
    stalledIntervalMs: 100,
  };
  const queue = new RedisActivationQueue({ name: 'test', redisUrl, keyPrefix: 'mirrored', clock, options });
  const stop = new AbortController();
  const items: string[] = [];
  const consumer = new BullMqWorkQueueConsumer({ queue });
  const running = consumer.run(
    async ({ key }) => {
      items.push(key);
      if (key.startsWith('bad/')) await queue.addRateLimited(key, new Error('it fails'));
      else await queue.forget(key);
    },
    { concurrency: 2 },
    stop.signal,
  );
  const term = await queue.beginTerm({ epoch: 1, holder: 'a' });
  await Promise.all(
    ['one/a', 'one/b', 'two/a', 'bad/a'].map((key) => term.add(key, { reason: 'user-change' })),
  );
  await queue.add('one/a', { priority: 'low', traceparent: '00-a-b-01' });
  await queue.addAfter('three/a', 30, { reason: 'requeue' });
  await queue.addAfter('three/a', 20, { reason: 'resync' });
  await queue.addAfter('four/later', 60_000);
  await waitFor(() => items.includes('three/a'));
  await waitFor(async () => (await queue.parked()).length === 1, { what: 'the bad key to be parked' });
  await queue.park('five/a', new Error('it cannot be mended'), {});
  await queue.wantsHelp();
  await queue.sweepStray();
  await term.check();
  await queue.beginTerm({ epoch: 2, holder: 'b' });
  await expect(term.add('one/a')).rejects.toThrow();
  await queue.inspect(10);
  await queue.inspectKey('bad/a');
  await queue.counts();
  await queue.purge('four/later');
  await clock.sleep(400);
  stop.abort();
  await running;
  await queue.close();
}

async function useActors(redisUrl: string): Promise<void> {
  const { signal } = new AbortController();
  const runtime = new RedisActorRuntime({
    redisUrl,
    keyPrefix: 'mirrored',
    clock,
    options: { lockDurationMs: 300 },
  });
  await runtime.recordCauses('deployment', 'ns/a', { pods: '12' });
  await runtime.activate('deployment', 'ns/a', signal, async (activation) => {
    await activation.storeIntents(['web-1', 'web-2']);
    activation.recordOwnWrite('pods', '90071992547409931');
    await expect(runtime.activate('deployment', 'ns/a', signal, async () => undefined)).rejects.toThrow();
    await clock.sleep(200);
  });
  await runtime.activate('deployment', 'ns/a', signal, async (activation) => activation.mustHaveSeen);
  await runtime.close();
}

async function useLease(url: string): Promise<void> {
  const [a, b] = ['a', 'b'].map(
    (identity) => new RedisResourceLock({ url, keyPrefix: 'mirrored:', identity }),
  );
  await a?.tryAcquireOrRenew(60_000, { witness: 'there' });
  await a?.tryAcquireOrRenew(60_000);
  await b?.tryAcquireOrRenew(60_000);
  await a?.release();
  await b?.tryAcquireOrRenew(60_000, { epochAbove: 7 });
  await b?.get();
  a?.close();
  b?.close();
}

async function useStorage(url: string): Promise<void> {
  const storage = new RedisStorage({ url, keyPrefix: 'mirrored:', clock, watchBatchMs: 0, maxLogEntries: 5 });
  const stop = new AbortController();
  const running = storage.run(stop.signal);
  const key = (name: string) => ({ resource: 'pods', namespace: 'ns', name });
  const object = (name: string, size: number) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'ns', annotations: { text: 'x'.repeat(size) } },
  });
  for (let index = 0; index < 40; index++)
    await storage.create(key(`p${index}`), object(`p${index}`, index * 20));
  const first = await storage.get(key('p1'));
  await storage.update(key('p1'), object('p1', 3), first?.revision ?? 0);
  await storage.delete(key('p2'), (await storage.get(key('p2')))?.revision ?? 0);
  await expect(storage.create(key('p3'), object('p3', 1))).rejects.toThrow();
  await storage.list('pods', { limit: 7 });
  await storage.currentRevision();
  stop.abort();
  await running;
}

/** The first line of the comment of each script, by the script's file. */
function scriptFiles(): string[] {
  const folders = ['redis/work-queue', 'redis/activation', 'redis/leader-election', 'apiserver/storage'];
  return folders.flatMap((folder) => {
    const path = join(import.meta.dirname, '../../src', folder, 'lua');
    const files = readdirSync(path).filter((file) => file.endsWith('.lua') && !NOT_REACHED.has(file));
    return files.map(
      (file) => /--\[\[\n(.+)/.exec(readFileSync(join(path, file), 'utf8'))?.[1]?.trim() ?? file,
    );
  });
}
