import { connect } from 'node:net';
import { SystemClock } from '../../../src/machinery/clock/index.js';
import { SimulatedRedis } from '../../../src/testing/simulation/redis/simulated-redis.js';
import type { TestRedisServer } from '../../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../../src/testing/redis-server.js';
import type { Request } from './arbitrary-requests.js';
import { UNORDERED } from './arbitrary-requests.js';
import { RawRedis, parseReply } from './raw-redis.js';

/** A real server and a simulated one of the same version, which get the same requests. */
export class TwoRedises {
  private constructor(
    readonly server: TestRedisServer,
    readonly simulated: SimulatedRedis,
    readonly real: RawRedis,
    readonly mock: RawRedis,
  ) {}

  static async start(): Promise<TwoRedises> {
    const server = await startTestRedisServer();
    const real = new RawRedis(connect(Number(new URL(server.url).port)));
    const [info = ''] = await real.ask(['INFO', 'server']);
    const version = /redis_version:(\S+)/.exec(info)?.[1] ?? '';
    const simulated = new SimulatedRedis({ clock: new SystemClock(), version });
    return new TwoRedises(server, simulated, real, new RawRedis(simulated.connect().socket));
  }

  /** The answers of both, in a form that is equal if they answer the same. */
  async askBoth(
    ...requests: readonly Request[]
  ): Promise<{ readonly real: unknown; readonly simulated: unknown }> {
    const [real, simulated] = await Promise.all([this.real.ask(...requests), this.mock.ask(...requests)]);
    return { real: comparable(requests, real), simulated: comparable(requests, simulated) };
  }

  async stop(): Promise<void> {
    this.real.close();
    this.mock.close();
    this.simulated.close();
    await this.server.stop();
  }
}

function comparable(requests: readonly Request[], replies: readonly string[]): unknown {
  return replies.map((reply, index) => {
    const request = requests[index] ?? [];
    return UNORDERED.has(request[0] ?? '') && !reply.startsWith('-')
      ? [request, sorted(parseReply(reply))]
      : [request, reply];
  });
}

function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item) => JSON.stringify(sorted(item))).sort() : value;
}

const READ_OF: Readonly<Record<string, (key: string) => Request>> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  list: (key) => ['LRANGE', key, '0', '-1'],
  set: (key) => ['SMEMBERS', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};

/** All keys of a server, but for some, with what they hold, and whether they expire. */
export async function dumpOf(
  redis: RawRedis,
  isLeftOut = (_key: string): boolean => false,
): Promise<unknown> {
  const [all = ''] = await redis.ask(['KEYS', '*']);
  const keys = (parseReply(all) as string[]).filter((key) => !isLeftOut(key)).sort();
  const dump: unknown[] = [];
  for (const key of keys) {
    const [type = '', ttl = ''] = await redis.ask(['TYPE', key], ['PTTL', key]);
    const read = READ_OF[type.slice(1, -2)]?.(key) ?? ['TYPE', key];
    const [value = ''] = await redis.ask(read);
    dump.push([
      key,
      type,
      ttl === ':-1\r\n',
      UNORDERED.has(read[0] ?? '') ? sorted(parseReply(value)) : value,
    ]);
  }
  return dump;
}
