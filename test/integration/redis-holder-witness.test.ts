import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { LeaderElector } from '../../src/runtime/leader-election/index.js';
import { RedisHolderWitness, RedisResourceLock } from '../../src/redis/index.js';
import { runHolderWitnessContract } from '../../src/testing/holder-witness-contract.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { redisWitnesses } from './support/redis-witnesses.js';

const clock = new SystemClock();

runHolderWitnessContract('RedisHolderWitness', async () =>
  redisWitnesses(inject('redisUrl'), `test-${randomUUID()}:`),
);

describe('RedisHolderWitness', () => {
  it('shows nobody where the user may not ask which server it is, and says so of others', async () => {
    const server = await startTestRedisServer();
    const admin = new Redis(server.url);
    await admin.call('ACL', 'SETUSER', 'rk', 'on', '>p', '~*', '&*', '+@all', '-@dangerous');
    const { witness, stop } = redisWitnesses(server.url.replace('://', '://rk:p@'), 'test:');
    const over = new AbortController();
    const a = witness('a');
    const running = a.run(over.signal);
    await waitFor(async () => String(await admin.call('PUBSUB', 'SHARDCHANNELS')).includes('alive:a'), {
      what: 'the subscription',
    });
    expect(await witness('b').look('a', 'any', over.signal)).toBe('unknown');
    expect(a.place).toBe('');
    over.abort();
    await running;
    await stop();
    admin.disconnect();
    await server.stop();
  });

  it('counts who looks by those who are there, so that they share the looks', async () => {
    const { witness, stop } = redisWitnesses(inject('redisUrl'), `test-${randomUUID()}:`);
    const over = new AbortController();
    const all = ['a', 'b', 'c', 'd'].map((identity) => witness(identity));
    const running = all.map((each) => each.run(over.signal));
    const [a, b] = all as [RedisHolderWitness, RedisHolderWitness];
    await waitFor(() => all.every(({ place }) => place !== ''), { what: 'all to be seen' });
    expect(b.lookers).toBe(1);
    for (let look = 0; look < 2; look++) expect(await b.look('a', a.place, over.signal)).toBe('present');
    expect(b.lookers).toBe(3);
    over.abort();
    await Promise.all(running);
    await stop();
  });

  it('knows no holder after the server was started again', async () => {
    const server = await startTestRedisServer();
    const { witness, stop } = redisWitnesses(server.url, 'test:');
    const over = new AbortController();
    const [a, b] = [witness('a'), witness('b')];
    const running = a.run(over.signal);
    await waitFor(() => a.place !== '');
    const { place } = a;
    const seen: string[] = [];
    const looking = (async () => {
      while (!over.signal.aborted) seen.push(await b.look('a', place, over.signal).catch(() => 'unknown'));
    })();
    await waitFor(() => seen.includes('present'));
    await server.stop();
    const anew = await startTestRedisServer(Number(new URL(server.url).port));
    await waitFor(() => a.place !== '' && a.place !== place, { what: 'a new place' });
    over.abort();
    await Promise.all([running, looking]);
    expect(new Set(seen)).toEqual(new Set(['present', 'unknown']));
    await stop();
    await anew.stop();
  });
});

describe('electors with Redis as the witness', () => {
  function candidate(keyPrefix: string, identity: string, url = inject('redisUrl')) {
    const lock = new RedisResourceLock({ url, keyPrefix, identity });
    const stop = new AbortController();
    const epochs: number[] = [];
    const elector = new LeaderElector({
      lock,
      witness: new RedisHolderWitness({ links: lock.links, identity, clock }),
      callbacks: {
        async onStartedLeading(signal, epoch) {
          epochs.push(epoch);
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        },
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
      // So long that nothing but the witness can be the reason.
      options: { leaseDurationMs: 60_000, renewDeadlineMs: 50_000 },
    });
    const running = elector.run(stop.signal);
    return {
      elector,
      lock,
      epochs,
      isSeen: async () => ((await lock.get())?.witness ?? '') !== '',
      async stop() {
        stop.abort();
        await running;
        lock.close();
      },
    };
  }

  it('replace a leader whose connections have closed, long before its lease ends', async () => {
    const keyPrefix = `test-${randomUUID()}:`;
    const all = ['a', 'b', 'c'].map((identity) => candidate(keyPrefix, identity));
    const first = await waitFor(() => all.find(({ elector }) => elector.isLeader));
    await waitFor(() => first.isSeen());
    await waitFor(() => all.every(({ elector }) => elector.leader !== ''));
    const others = all.filter((each) => each !== first);
    first.lock.close();
    const second = await waitFor(() => others.find(({ elector }) => elector.isLeader));
    expect(second.epochs).toEqual([2]);
    for (const each of others) await each.stop();
  });

  it('keep a leader whose connections are cut, again and again, by the server', async () => {
    // One of its own: the connections of others are none of this test's business.
    const server = await startTestRedisServer();
    const admin = new Redis(server.url);
    const all = ['a', 'b', 'c'].map((identity) => candidate('test:', identity, server.url));
    const first = await waitFor(() => all.find(({ elector }) => elector.isLeader));
    const listeners = async () =>
      [...String(await admin.client('LIST')).matchAll(/id=(\d+).*name=lease-listener\b/g)].map(
        ([, id]) => id,
      );
    for (let count = 0; count < 5; count++) {
      await waitFor(() => first.isSeen());
      const ids = await waitFor(
        async () => {
          const found = await listeners();
          return found.length >= 3 && found;
        },
        { what: 'everybody to listen' },
      );
      for (const id of ids) await admin.client('KILL', 'ID', String(id)).catch(() => undefined);
      await waitFor(async () => !(await first.isSeen()), { what: 'it to say that it cannot be seen' });
    }
    expect(first.elector).toMatchObject({ isLeader: true, epoch: 1 });
    for (const each of all) await each.stop();
    admin.disconnect();
    await server.stop();
  });
});
