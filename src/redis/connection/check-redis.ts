import type { Clock } from '@rollkeeper/machinery/clock';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';
import { InvalidOptionError, StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { RedisFacts } from './decide-redis-fitness.js';
import { decideRedisFitness, parseRedisFacts } from './decide-redis-fitness.js';
import type { RedisConnection } from './redis-connection.js';
import { createRedisConnection, lastNodeError } from './redis-connection.js';
import { describeRedis, parseRedisUrl } from './redis-target.js';

export interface CheckRedisOptions {
  readonly clock: Clock;
  /** How long to wait for a server that is not up yet or is loading its data. */
  readonly timeoutMs: number;
  /** Name of the URL in errors. @default 'redis-url' */
  readonly option?: string;
  readonly signal?: AbortSignal;
  readonly logger?: Logger;
}

const RETRY_MS = 50;
const LONGEST_RETRY_MS = 500;
/** Errors that waiting does not fix: logins, permissions, certificates, other protocols. */
const FINAL =
  /NOAUTH|WRONGPASS|NOPERM|invalid username|Protocol error|Unknown RESP type|certificate|altname|wrong version number|cluster support disabled/i;

/**
 * Waits until Redis answers and checks that it is usable: version 7 or newer, no eviction, not a replica, and of the
 * kind that the URL names. Checks every master of a Cluster.
 * @throws StartupError with one line that says what is wrong, without user and password
 * @throws InvalidOptionError
 */
export async function assertUsableRedis(url: string, options: CheckRedisOptions): Promise<void> {
  const { clock, logger, signal, timeoutMs } = options;
  const { kind } = parseRedisUrl(url, options.option);
  const deadlineMs = clock.monotonicNow() + timeoutMs;
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    const answer = await readFacts(url).catch((error: unknown) => ({ error }));
    if (Array.isArray(answer)) return assertFit(url, kind, answer);
    if (answer.error instanceof InvalidOptionError) throw answer.error;
    const text = errorMessage(lastNodeError(answer.error));
    if (FINAL.test(text) || clock.monotonicNow() > deadlineMs) {
      throw new StartupError(`Redis at ${placeOf(url)} does not answer as Redis should: ${text}`);
    }
    if (attempt === 0) logger?.warn('waiting for Redis', { redis: placeOf(url), error: text });
    await clock.sleep(doublingDelayMs(attempt, { firstMs: RETRY_MS, longestMs: LONGEST_RETRY_MS }), signal);
  }
}

function assertFit(
  url: string,
  kind: ReturnType<typeof parseRedisUrl>['kind'],
  servers: readonly RedisFacts[],
): void {
  const problem = servers
    .map((facts) => decideRedisFitness(kind, facts))
    .find((found) => found !== undefined);
  if (problem !== undefined) throw new StartupError(`Redis at ${placeOf(url)} ${problem}`);
}

async function readFacts(url: string): Promise<RedisFacts[]> {
  const connection = createRedisConnection({ url, connectionName: 'rollkeeper-check', reconnect: false });
  let firstError: unknown;
  connection.on('error', (error: unknown) => (firstError ??= error));
  try {
    await connection.connect();
    const infos = await readInfos(connection);
    return infos.map(parseRedisFacts);
  } catch (error) {
    throw firstError ?? error;
  } finally {
    connection.disconnect();
  }
}

function readInfos(connection: RedisConnection): Promise<string[]> {
  const servers = 'nodes' in connection ? connection.nodes('master') : [connection];
  return Promise.all(servers.map((server) => server.info()));
}

function placeOf(url: string): string {
  return describeRedis(url).replace(/^redis:\/\//, '');
}
