import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import type { LeaderElectionOptions } from '../../src/runtime/leader-election/index.js';
import { LeaderElector } from '../../src/runtime/leader-election/index.js';
import { RedisResourceLock } from '../../src/redis/index.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { runResourceLockContract } from '../../src/testing/resource-lock-contract.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { MovedTime } from '../support/moved-time.js';
import { savedKey } from './support/saved-key.js';

/** Longer than any pause of the machine: time is moved. */
const LEASES = { leaseMs: 60_000, stillHeldMs: 60_000 };

runResourceLockContract(
  'RedisResourceLock',
  async () => {
    const keyPrefix = `test-${randomUUID()}:`;
    const time = new MovedTime(inject('redisUrl'), `${keyPrefix}*`, 60_000);
    const made: RedisResourceLock[] = [];
    return {
      lock(identity) {
        const lock = new RedisResourceLock({ url: inject('redisUrl'), keyPrefix, identity });
        made.push(lock);
        return lock;
      },
      pass: (ms) => time.pass(ms),
      saved: () => savedKey(inject('redisUrl'), `${keyPrefix}lease:leader`),
      async stop() {
        for (const lock of made) lock.close();
        time.close();
      },
    };
  },
  LEASES,
);

describe('RedisResourceLock', () => {
  it('keeps its record for ever, so that the epoch never goes back', async () => {
    const keyPrefix = `test-${randomUUID()}:`;
    const lock = new RedisResourceLock({ url: inject('redisUrl'), keyPrefix, identity: 'a' });
    const redis = new Redis(inject('redisUrl'));
    await lock.tryAcquireOrRenew(1);
    expect(await redis.pttl(`${keyPrefix}lease:leader`)).toBe(-1);
    await lock.release();
    expect(await redis.pttl(`${keyPrefix}lease:leader`)).toBe(-1);
    redis.disconnect();
    lock.close();
  });

  it('keeps leases of different names apart', async () => {
    const options = { url: inject('redisUrl'), keyPrefix: `test-${randomUUID()}:` };
    const one = new RedisResourceLock({ ...options, identity: 'a', name: 'one' });
    const two = new RedisResourceLock({ ...options, identity: 'b', name: 'two' });
    expect((await one.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
    expect((await two.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
    one.close();
    two.close();
  });

  it('wakes those who wait after a broken connection, because a message may have been lost', async () => {
    const lock = new RedisResourceLock({
      url: inject('redisUrl'),
      keyPrefix: `test-${randomUUID()}:`,
      identity: 'a',
    });
    let wakes = 0;
    lock.onReleased(() => (wakes += 1));
    await waitFor(() => lock.links.listener.status === 'ready', { what: 'the connection' });
    const before = wakes;
    lock.links.listener.disconnect(true);
    await waitFor(() => wakes > before, { what: 'the wake after the reconnection' });
    lock.close();
  });

  it('fails in time, and not for ever, without a Redis', async () => {
    const lock = new RedisResourceLock({ url: 'redis://127.0.0.1:1', identity: 'a', commandTimeoutMs: 200 });
    await expect(lock.tryAcquireOrRenew(1000)).rejects.toThrow();
    lock.close();
  });
});

describe('electors on Redis', () => {
  function candidate(
    url: string,
    keyPrefix: string,
    identity: string,
    options: Partial<LeaderElectionOptions> = {},
  ) {
    const lock = new RedisResourceLock({ url, keyPrefix, identity, commandTimeoutMs: 500 });
    const stop = new AbortController();
    const log: string[] = [];
    const elector = new LeaderElector({
      lock,
      callbacks: {
        async onStartedLeading(signal, epoch) {
          log.push(`start ${epoch}`);
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        },
        onStoppedLeading: () => log.push('stop'),
        onNewLeader: () => undefined,
      },
      options,
    });
    const running = elector.run(stop.signal);
    return {
      elector,
      log,
      async stop() {
        stop.abort();
        await running;
        lock.close();
      },
    };
  }

  it('hand over when the leader stops, long before its lease ends', async () => {
    const [url, keyPrefix] = [inject('redisUrl'), `test-${randomUUID()}:`];
    // So long that nothing but the news of the release can be the reason.
    const options = { leaseDurationMs: 600_000, renewDeadlineMs: 500_000 };
    const all = ['a', 'b', 'c'].map((identity) => candidate(url, keyPrefix, identity, options));
    const leaders = () => all.filter(({ elector }) => elector.isLeader);
    const first = await waitFor(() => leaders()[0]);
    await waitFor(() => all.every(({ elector }) => elector.leader !== ''));
    await first.stop();
    const second = await waitFor(() => leaders()[0]);
    expect(second.elector.epoch).toBe(2);
    for (const each of all) if (each !== first) await each.stop();
    expect(first.log).toEqual(['start 1', 'stop']);
  });

  it('live on when Redis is away, and one of them leads again when it is back', async () => {
    const server = await startTestRedisServer();
    const admin = new Redis(server.url);
    const all = ['a', 'b'].map((identity) => candidate(server.url, 'test:', identity));
    const leader = await waitFor(() => all.find(({ elector }) => elector.isLeader));
    await admin.call('CLIENT', 'PAUSE', '4000', 'ALL');
    await waitFor(() => leader.log.includes('stop'));
    expect(leader.elector.isLeader).toBe(false);
    await waitFor(() => all.some(({ elector }) => elector.isLeader));
    expect(Math.max(...all.map(({ elector }) => elector.epoch))).toBe(2);
    for (const each of all) await each.stop();
    admin.disconnect();
    await server.stop();
  });
});
