import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SeededRandom, SystemClock } from '../../src/machinery/clock/index.js';
import { PROPERTY_SEED } from '../../src/testing/property-runs.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { BullMqWorkQueue } from '../../src/redis/index.js';
import { proofKeys } from '../integration/support/queue-proof.js';
import { WorkerProcesses } from '../integration/support/worker-processes.js';

const clock = new SystemClock();

describe('the work queue across OS processes', () => {
  const processes = new WorkerProcesses();
  let keyPrefix: string;
  let proof: ReturnType<typeof proofKeys>;
  let redis: Redis;
  let queue: BullMqWorkQueue;

  beforeEach(() => {
    keyPrefix = randomUUID();
    proof = proofKeys(keyPrefix);
    redis = new Redis(inject('redisUrl'));
    queue = new BullMqWorkQueue({ name: 'test', redisUrl: inject('redisUrl'), keyPrefix, clock });
  });

  afterEach(async () => {
    await processes.stopAll();
    await queue.close();
    redis.disconnect();
  });

  const startWorker = (): Promise<number> => processes.start(inject('redisUrl'), keyPrefix);
  const startedBy = (key: string): Promise<string[]> => redis.lrange(proof.started(key), 0, -1);

  const finalVersionsSeen = async (): Promise<boolean> => {
    const [versions, seen, { waiting, active, delayed }] = await Promise.all([
      redis.hgetall(proof.versions),
      redis.hgetall(proof.seen),
      queue.counts(),
    ]);
    const all = Object.entries(versions).every(([key, version]) => seen[key] === version);
    return all && waiting + active + delayed === 0;
  };

  it(`loses no change and works on no key twice at once (SEED=${PROPERTY_SEED})`, async () => {
    await Promise.all([startWorker(), startWorker()]);
    const random = new SeededRandom(PROPERTY_SEED);
    for (let round = 0; round < 10; round++) {
      for (let index = 0; index < 40; index++) {
        const key = `ns/key-${Math.trunc(random.next() * 6)}`;
        await redis.hincrby(proof.versions, key, 1);
        if (random.next() < 0.25) await queue.addAfter(key, 1 + Math.trunc(random.next() * 30));
        else await queue.add(key, { priority: random.next() < 0.3 ? 'high' : 'low' });
      }
      await waitFor(finalVersionsSeen, { what: `the final versions of round ${round}` });
    }
    expect(await redis.lrange(proof.violations, 0, -1)).toEqual([]);
    const workers = new Set(
      (await Promise.all(Object.keys(await redis.hgetall(proof.versions)).map(startedBy))).flat(),
    );
    expect(workers.size).toBe(2);
  });

  it('works on a key again when its worker was killed', async () => {
    const first = await startWorker();
    await queue.add('hang/a');
    await waitFor(async () => (await startedBy('hang/a')).length === 1);
    const second = await startWorker();
    process.kill(first, 'SIGKILL');
    await waitFor(async () => (await startedBy('hang/a')).length === 2);
    expect(await startedBy('hang/a')).toEqual([String(first), String(second)]);
  });

  it('runs a change that was added during the killed run as well', async () => {
    const first = await startWorker();
    await queue.add('hang/a');
    await waitFor(async () => (await startedBy('hang/a')).length === 1);
    await queue.add('hang/a', { reason: 'user-change' });
    await startWorker();
    process.kill(first, 'SIGKILL');
    await waitFor(async () => (await startedBy('hang/a')).length === 3);
    await waitFor(async () => (await queue.counts()).active === 0);
  });

  it('gives the key of a paused worker to another, and the paused one learns that it lost it', async () => {
    const first = await startWorker();
    await queue.add('hang/a');
    await waitFor(async () => (await startedBy('hang/a')).length === 1);
    const second = await startWorker();
    process.kill(first, 'SIGSTOP');
    await waitFor(async () => (await startedBy('hang/a')).length === 2);
    process.kill(first, 'SIGCONT');
    const [aborted] = await waitFor(async () => {
      const all = await redis.lrange(proof.aborted('hang/a'), 0, -1);
      return all.length > 0 && all;
    });
    expect(aborted).toBe(`${first} KEY_LOCK_LOST`);
    expect(await startedBy('hang/a')).toEqual([String(first), String(second)]);
  });
});
