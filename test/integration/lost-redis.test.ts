import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { LeaderElector } from '../../src/runtime/leader-election/index.js';
import { BullMqWorkQueue, RedisResourceLock } from '../../src/redis/index.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';

const clock = new SystemClock();
const LEASE = 'rollkeeper:lease:leader';

/** A Redis without persistence, which loses everything when it restarts. */
let server: TestRedisServer;
let admin: Redis;

beforeEach(async () => {
  server = await startTestRedisServer();
  admin = new Redis(server.url, { retryStrategy: () => 20 });
  admin.on('error', () => undefined);
});

afterEach(async () => {
  admin.disconnect();
  await server.stop();
});

async function restart(): Promise<void> {
  const port = Number(new URL(server.url).port);
  await server.stop();
  server = await startTestRedisServer(port);
}

describe('a leader whose Redis goes back to before its term', () => {
  /** Former terms, without the present one. */
  const formerTerms = { holder: '', epoch: 6, durationMs: 2500, expiresUs: 0, witness: '' };

  const losses: { name: string; former: boolean; lose: () => Promise<unknown> }[] = [
    { name: 'it is flushed in epoch 1', former: false, lose: () => admin.flushall() },
    { name: 'it is flushed in epoch 7', former: true, lose: () => admin.flushall() },
    { name: 'it restarts at once in epoch 1, without persistence', former: false, lose: restart },
    {
      name: 'it is set back to the end of epoch 6, in epoch 7',
      former: true,
      lose: async () => {
        await admin.del(LEASE);
        await admin.hset(LEASE, formerTerms);
      },
    },
  ];

  it.each(losses)('ends the term and begins one in a higher epoch: $name', async ({ former, lose }) => {
    if (former) await admin.hset(LEASE, formerTerms);
    const first = former ? 7 : 1;
    const lock = new RedisResourceLock({ url: server.url, identity: 'a' });
    const log: string[] = [];
    const stop = new AbortController();
    const elector = new LeaderElector({
      lock,
      clock,
      callbacks: {
        onStartedLeading: async (signal, epoch) => {
          log.push(`began ${epoch}`);
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        },
        onStoppedLeading: () => log.push('stopped'),
        onNewLeader: () => undefined,
      },
    });
    const running = elector.run(stop.signal);
    await waitFor(() => log.length > 0);
    await lose();
    await waitFor(() => log.length > 2, { what: 'another term' });
    expect(log).toEqual([`began ${first}`, 'stopped', `began ${first + 1}`]);
    stop.abort();
    await running;
    lock.close();
  });
});

describe('a term in a queue whose Redis loses its data', () => {
  const term = { epoch: 3, holder: 'a' };
  let queue: BullMqWorkQueue;
  let keyPrefix: string;

  beforeEach(() => {
    keyPrefix = randomUUID();
    queue = new BullMqWorkQueue({ name: 'test', redisUrl: server.url, keyPrefix, clock });
  });

  afterEach(() => queue.close());

  it('is not confirmed once the queue knows of no term, with nothing but a timer in it', async () => {
    const begun = await queue.beginTerm(term);
    await queue.addAfter('ns/a', 60_000);
    await begun.check();
    await admin.flushall();
    await expect(begun.check()).rejects.toMatchObject({ code: 'SUPERSEDED', epoch: 0 });
    const again = await queue.beginTerm(term);
    await again.check();
  });

  it('is not confirmed once the queue went back to another term', async () => {
    const key = `{${keyPrefix}:queue:test}:state:term`;
    await queue.beginTerm({ epoch: 2, holder: 'former' });
    const before = await admin.hgetall(key);
    const begun = await queue.beginTerm(term);
    await admin.hset(key, before);
    await expect(begun.check()).rejects.toMatchObject({ code: 'SUPERSEDED', epoch: 2 });
  });

  it('is not confirmed by another run of the server, which may have lost what came last, although it knows the term', async () => {
    const begun = await queue.beginTerm(term);
    const key = `{${keyPrefix}:queue:test}:state:term`;
    const stored = await admin.hgetall(key);
    await restart();
    await waitFor(() => admin.status === 'ready');
    await admin.hset(key, stored);
    await expect(begun.check()).rejects.toMatchObject({ code: 'SUPERSEDED', epoch: 0 });
    await (await queue.beginTerm(term)).check();
  });

  it('is confirmed where Redis does not say which run it is', async () => {
    await admin.call('ACL', 'SETUSER', 'few', 'on', 'nopass', '~*', '&*', '+@all', '-@dangerous');
    const url = server.url.replace('redis://', 'redis://few:x@');
    const limited = new BullMqWorkQueue({ name: 'test', redisUrl: url, keyPrefix, clock });
    const begun = await limited.beginTerm(term);
    await begun.check();
    await limited.close();
  });
});
