import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@rollkeeper/machinery/clock';
import type { RedisConnection } from '@rollkeeper/redis/connection';
import { createRedisConnection } from '@rollkeeper/redis/connection';
import { SimulatedRedis } from './simulated-redis.js';

let server: SimulatedRedis;
let redis: RedisConnection;

beforeEach(() => {
  server = new SimulatedRedis({ clock: new FakeClock() });
  redis = createRedisConnection({ url: server.url, connectionName: 'test' });
});
afterEach(() => {
  redis.disconnect();
  server.close();
});

describe('a number that a simulated Redis reads', () => {
  it.each([
    ['-0x10', '-16'],
    ['+0x1F', '31'],
    ['-.5', '-0.5'],
    ['1.', '1'],
    ['-1E2', '-100'],
    ['-Infinity', '-inf'],
    ['+inf', 'inf'],
  ])('may be written as strtod reads it: %s', async (text, score) => {
    await redis.zadd('z', text, 'a');
    expect(await redis.zscore('z', 'a')).toBe(score);
    const decoded = await redis.eval('return tostring(cjson.decode(ARGV[1]))', 0, text);
    expect(decoded).toBe(score);
  });

  // Were the time quadratic in the length, each of these would take minutes.
  const LONG = 1_000_000;
  it.each([
    ['digits', '1'.repeat(LONG)],
    ['digits after a point', `1.${'1'.repeat(LONG)}`],
    ['digits of an exponent', `1e${'1'.repeat(LONG)}`],
    ['hexadecimal digits', `0x${'1'.repeat(LONG)}`],
    ['digits around a point', `${'1'.repeat(LONG / 2)}.${'1'.repeat(LONG / 2)}`],
  ])('is read in linear time: a million %s, and a sign too many', async (_, text) => {
    await expect(redis.zadd('z', `${text}!`, 'a')).rejects.toThrow('not a valid float');
    await expect(redis.eval('return cjson.decode(ARGV[1])', 0, `${text}!`)).rejects.toThrow(
      'Expected the end but found invalid token',
    );
  });
});

describe('a text that a simulated Redis encodes as JSON', () => {
  it('has its control characters, quotes and slashes escaped, and all other bytes as they are', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    await redis.eval("redis.call('set', KEYS[1], cjson.encode(ARGV[1]))", 1, 'json', bytes);
    const json = await redis.getBuffer('json');
    const controls = Array.from({ length: 32 }, (_, code) => {
      const short = { 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r' }[code];
      return short ?? `\\u${code.toString(16).padStart(4, '0')}`;
    }).join('');
    const ascii = bytes
      .toString('latin1', 32, 127)
      .replaceAll('\\', '\\\\')
      .replaceAll('"', '\\"')
      .replaceAll('/', '\\/');
    expect(json?.toString('latin1')).toBe(`"${controls}${ascii}\\u007f${bytes.toString('latin1', 128)}"`);
  });
});
