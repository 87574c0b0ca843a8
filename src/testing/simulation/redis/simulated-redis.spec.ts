import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@rollkeeper/machinery/clock';
import type { RedisConnection } from '@rollkeeper/redis/connection';
import { createRedisConnection } from '@rollkeeper/redis/connection';
import type { Network } from './network/network.js';
import { SimulatedRedis } from './simulated-redis.js';

let clock: FakeClock;
let server: SimulatedRedis;
let made: RedisConnection[];

beforeEach(() => {
  clock = new FakeClock();
  server = new SimulatedRedis({ clock });
  made = [];
});
afterEach(() => {
  for (const each of made) each.disconnect();
  server.close();
});

function connect(connectionName = 'test', mode: 'fail-fast' | 'blocking' = 'fail-fast'): RedisConnection {
  const connection = createRedisConnection({ url: server.url, connectionName, mode });
  made.push(connection);
  return connection;
}

/** Runs everything that follows from what has happened. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a client of a simulated Redis', () => {
  it('stores, reads and runs scripts, with texts and with bytes', async () => {
    const redis = connect();
    expect(await redis.set('a', 'é')).toBe('OK');
    expect(await redis.getBuffer('a')).toEqual(Buffer.from('é'));
    await redis.hset('h', { x: '1', y: '2' });
    expect(await redis.hgetall('h')).toEqual({ x: '1', y: '2' });
    expect(await redis.eval("return { KEYS[1], redis.call('GET', KEYS[1]), 1.9, false }", 1, 'a')).toEqual([
      'a',
      'é',
      1,
      null,
    ]);
    const bytes = Buffer.from([0, 255, 128, 13, 10]);
    await redis.set('b', bytes);
    expect(await redis.getBuffer('b')).toEqual(bytes);
  });

  it('sees keys expire by the clock of the server', async () => {
    const redis = connect();
    await redis.set('a', '1', 'PX', 100);
    await clock.advance(100);
    expect(await redis.pttl('a')).toBe(0);
    await clock.advance(1);
    expect(await redis.get('a')).toBeNull();
  });

  it('hears what is published while it is subscribed', async () => {
    const [listener, sender] = [connect('listener', 'blocking'), connect()];
    const heard: string[] = [];
    listener.on('message', (channel: string, message: string) => heard.push(`${channel} ${message}`));
    await listener.subscribe('news');
    expect(await sender.publish('news', 'x')).toBe(1);
    await settle();
    expect(heard).toEqual(['news x']);
  });

  it('has its transactions carried out as one', async () => {
    const redis = connect();
    const replies = await redis.multi().set('a', '1').lpush('a', 'x').get('a').exec();
    expect(replies?.map(([error, value]) => error?.message ?? value)).toEqual([
      'OK',
      'WRONGTYPE Operation against a key holding the wrong kind of value',
      '1',
    ]);
  });
});

describe('clients that wait for a key of a simulated Redis', () => {
  it('are served in the order in which they began to wait', async () => {
    const waiters = ['a', 'b', 'c'].map((name) => connect(name, 'blocking'));
    const served: string[] = [];
    for (const [index, waiter] of waiters.entries()) {
      waiter.bzpopmin('z', 0).then(
        (reply) => served.push(`${index} ${reply?.[1]}`),
        () => undefined,
      );
      await settle();
    }
    await connect().zadd('z', 2, 'second', 1, 'first');
    await settle();
    expect(served).toEqual(['0 first', '1 second']);
  });

  it('get nothing when their time is over', async () => {
    const waiter = connect('waiter', 'blocking');
    const reply = waiter.xread('BLOCK', 1000, 'STREAMS', 'x', '$');
    await settle();
    await clock.advance(1000);
    expect(await reply).toBeNull();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a fault of a simulated Redis', () => {
  it('makes the client connect again and send again if it resets a connection', async () => {
    const redis = connect();
    await redis.set('a', '1');
    const [before] = server.clients;
    before?.connection.reset();
    await settle();
    expect(await redis.get('a')).toBe('1');
    expect(server.clients).toHaveLength(1);
    expect(server.clients[0]?.connection).not.toBe(before?.connection);
  });

  it('leaves the effect of a request, without an answer, if it silences replies', async () => {
    const [redis, other] = [connect('silenced'), connect()];
    await redis.ping();
    server.clients.find(({ name }) => name === 'silenced')?.connection.silence('reply');
    const asked = redis.set('a', '1');
    asked.catch(() => undefined);
    await settle();
    expect(await other.get('a')).toBe('1');
  });

  it.each([
    { fault: 'full', refused: /^OOM command not allowed/ },
    { fault: 'loading', refused: /^LOADING Redis is loading/ },
    { fault: 'diskFailed', refused: /^MISCONF Redis is configured/ },
  ] as const)('refuses writes, of the kind "$fault", and ends', async ({ fault, refused }) => {
    const redis = connect();
    await redis.ping();
    server.faults[fault] = true;
    await expect(redis.set('a', '1')).rejects.toThrow(refused);
    server.faults[fault] = false;
    expect(await redis.set('a', '1')).toBe('OK');
  });

  it('loses the later writes, the scripts and the run id if it fails over to an earlier state', async () => {
    const redis = connect();
    const runId = async (): Promise<string> => /run_id:(\w+)/.exec(await redis.info('server'))?.[1] ?? '';
    await redis.set('a', 'early');
    const before = server.snapshot();
    const sha = (await redis.script('LOAD', 'return 1')) as string;
    const first = await runId();
    await redis.set('a', 'late');
    server.stop();
    await settle();
    server.start(before);
    expect(await redis.get('a')).toBe('early');
    await expect(redis.evalsha(sha, 0)).rejects.toThrow(/^NOSCRIPT/);
    expect(await runId()).not.toBe(first);
  });
});

describe('a client of a simulated Redis that is closed', () => {
  it('between two attempts to connect rejects the commands that wait, and has ended', async () => {
    const redis = connect('blocking', 'blocking');
    await redis.ping();
    server.stop();
    await settle();
    expect(redis.status).toBe('reconnecting');
    const waiting = redis.get('a');
    redis.disconnect();
    await expect(waiting).rejects.toThrow('Connection is closed.');
    expect(redis.status).toBe('end');
  });

  it.each(['a client', 'a duplicate of one'])(
    'while the server loads its data rejects what was to be sent again: %s',
    async (which) => {
      const first = connect('again', 'blocking');
      const redis = which === 'a client' ? first : (first as Redis).duplicate();
      made.push(redis);
      await redis.ping();
      server.clients.at(-1)?.connection.silence('reply');
      const waiting = redis.get('a');
      await settle();
      server.faults.loading = true;
      const connected = new Promise<void>((resolve) => redis.once('connect', resolve));
      server.clients.at(-1)?.connection.reset();
      await connected;
      await settle();
      redis.disconnect();
      await expect(waiting).rejects.toThrow('Connection is closed.');
    },
  );
});

describe('the network of a simulated Redis', () => {
  it('decides when each transmission arrives, and keeps the order of a stream', async () => {
    const held: (() => void)[] = [];
    const network: Network = { deliver: (_transmission, arrive) => held.push(arrive) };
    const slow = new SimulatedRedis({ clock, name: 'slow', network });
    const redis = createRedisConnection({ url: slow.url, connectionName: 'slow', autoPipelining: false });
    const letThrough = async (): Promise<void> => {
      await settle();
      // The newest first: within a stream, the oldest arrives nevertheless.
      for (let arrive = held.pop(); arrive; arrive = held.pop()) {
        arrive();
        await settle();
      }
    };
    const connected = redis.connect();
    await letThrough();
    await connected;
    const replies = Promise.all([redis.rpush('l', 'a'), redis.rpush('l', 'b'), redis.lrange('l', 0, -1)]);
    await settle();
    expect(held.length).toBeGreaterThan(0);
    await letThrough();
    expect(await replies).toEqual([1, 2, ['a', 'b']]);
    redis.disconnect();
    await letThrough();
    slow.close();
  });
});
