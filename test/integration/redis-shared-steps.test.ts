import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LuaScript } from '../../src/redis/connection/lua-script.js';
import { SharedSteps } from '../../src/redis/connection/shared-steps.js';
import { SparingPing } from '../../src/redis/connection/sparing-ping.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';

let server: TestRedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startTestRedisServer();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** How often the server has had this command, scripts' own included. */
async function callsOf(command: string): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

const add = new LuaScript<number>({
  source: "return redis.call('INCRBY', KEYS[1], ARGV[1])",
  numberOfKeys: 1,
});
const length = new LuaScript<number>({ source: "return redis.call('STRLEN', KEYS[1])", numberOfKeys: 1 });

describe('steps that are asked for in one turn', () => {
  it('are one command, and each has its own reply', async () => {
    const steps = new SharedSteps(() => redis);
    const ask = (): Promise<number[]> =>
      Promise.all([
        steps.run(add.call(['a'], [7])),
        steps.run(length.call(['a'])),
        steps.run(add.call(['b'], [12])),
      ]);
    expect(await ask()).toEqual([7, 1, 12]);
    const before = await callsOf('evalsha');
    expect(await ask()).toEqual([14, 2, 24]);
    expect(await callsOf('evalsha')).toBe(before + 1);
  });

  it('fail alone, and the others of their turn are carried out', async () => {
    const steps = new SharedSteps(() => redis);
    await redis.set('text', 'no number');
    const all = await Promise.allSettled([
      steps.run(length.call(['text'])),
      steps.run(add.call(['text'], [1])),
      steps.runAll([length.call(['text']), add.call(['sum'], [3])]),
    ]);
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await redis.get('sum')).toBe('3');
  });

  it('are several commands where they are very many, because a server does nothing else during one', async () => {
    const steps = new SharedSteps(() => redis);
    const before = await callsOf('evalsha');
    const all = Array.from({ length: 300 }, (_, index) => steps.run(add.call([`of-${index}`], [index])));
    expect(await Promise.all(all)).toEqual(all.map((_, index) => index));
    const sent = (await callsOf('evalsha')) - before;
    expect(sent).toBeGreaterThan(2);
    expect(sent).toBeLessThan(30);
  });
});

describe('a sparing ping', () => {
  it('asks nothing of a server that has just sent something', async () => {
    const sparing = new SparingPing(() => redis);
    await sparing.ping();
    await sparing.ping();
    const before = await callsOf('ping');
    await sparing.ping();
    await redis.get('a');
    await sparing.ping();
    expect(await callsOf('ping')).toBe(before);
    await sparing.ping();
    await sparing.ping();
    expect(await callsOf('ping')).toBeGreaterThan(before);
  });

  it('rejects where there is no server', async () => {
    const gone = await startTestRedisServer();
    const lost = new Redis(gone.url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
    lost.on('error', () => undefined);
    const sparing = new SparingPing(() => lost);
    await sparing.ping();
    await gone.stop();
    await expect(sparing.ping()).rejects.toThrow();
    lost.disconnect();
  });
});
