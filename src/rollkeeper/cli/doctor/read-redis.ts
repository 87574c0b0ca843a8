import type { Clock } from '@rollkeeper/machinery/clock';
import { abortable } from '@rollkeeper/machinery/cancellation';
import { TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import { FIRST_ANSWER_MS } from '../../terminal/first-answer.js';
import type { RedisConnection } from '@rollkeeper/redis/connection';
import {
  createRedisConnection,
  decideRedisFitness,
  describeRedis,
  parseRedisFacts,
  parseRedisUrl,
} from '@rollkeeper/redis/connection';
import type { RedisServerFacts } from './decide-redis.js';
import type { Asked } from './finding.js';
import { answered } from './finding.js';

const PINGS = 11;

/** Asks each master of a Cluster, or the one server. */
export async function readRedis(
  url: string,
  clock: Clock,
  patienceMs = FIRST_ANSWER_MS,
): Promise<Asked<readonly RedisServerFacts[]>> {
  const { kind } = parseRedisUrl(url);
  const connection = createRedisConnection({ url, connectionName: 'rollkeeper-doctor', reconnect: false });
  let firstError: unknown;
  connection.on('error', (error: unknown) => (firstError ??= error));
  try {
    await firstAnswerOf(connection, clock, patienceMs);
    const servers = 'nodes' in connection ? connection.nodes('master') : [connection];
    const facts = await Promise.all(servers.map((server) => factsOf(server, clock)));
    const place = describeRedis(url).replace(/^redis:\/\//, '');
    return answered(
      facts.map(({ address, ...each }) => ({
        ...each,
        address: servers.length === 1 ? `Redis at ${place}` : `Redis node ${address}`,
        unfit: decideRedisFitness(kind, each),
      })),
    );
  } catch (error) {
    return { is: 'unanswered', why: errorMessage(firstError ?? error) };
  } finally {
    connection.disconnect();
  }
}

/** Connects, and waits for an answer no longer than for that of any server. */
async function firstAnswerOf(connection: RedisConnection, clock: Clock, patienceMs: number): Promise<void> {
  const limit = new AbortController();
  const silence = new TimeoutError(`nothing came for ${patienceMs / 1000} s`);
  const timer = clock.setTimeout(() => limit.abort(silence), patienceMs);
  try {
    await abortable(
      connection.connect().then(() => connection.ping()),
      limit.signal,
    );
  } finally {
    timer.cancel();
  }
}

async function factsOf(server: RedisConnection, clock: Clock): Promise<RedisServerFacts> {
  const info = await server.info();
  const [savePoints, pings] = [await savePointsOf(server), await ping(server, clock)];
  const beganAtMs = clock.now();
  const [seconds = 0, micros = 0] = (await server.time()).map(Number);
  const answeredAtMs = clock.now();
  const field = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? '';
  return {
    ...parseRedisFacts(info),
    address: field('tcp_port') === '' ? '' : `:${field('tcp_port')}`,
    appendOnly: field('aof_enabled') === '1',
    savesSnapshots: savePoints !== '',
    isLoading: field('loading') === '1',
    lastSaveFailed: field('rdb_last_bgsave_status') === 'err' || field('aof_last_write_status') === 'err',
    usedBytes: Number(field('used_memory')) || 0,
    limitBytes: Number(field('maxmemory')) || 0,
    pingMs: medianOf(pings),
    aheadMs: seconds * 1000 + micros / 1000 - (beganAtMs + answeredAtMs) / 2,
  };
}

/** Hosted servers refuse CONFIG: then only what INFO says is known. */
async function savePointsOf(server: RedisConnection): Promise<string> {
  try {
    const answer = await server.config('GET', 'save');
    return answer[1] ?? '';
  } catch {
    return '';
  }
}

async function ping(server: RedisConnection, clock: Clock): Promise<readonly number[]> {
  const took: number[] = [];
  for (let count = 0; count < PINGS; count++) {
    const beganMs = clock.monotonicNow();
    await server.ping();
    took.push(clock.monotonicNow() - beganMs);
  }
  return took;
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
