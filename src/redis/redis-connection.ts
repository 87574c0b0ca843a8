import { Redis } from 'ioredis';
import { InvalidOptionError } from '../errors/index.js';
import type { Logger } from '../logging/index.js';

export interface RedisConnectionOptions {
  /** `redis://[user:password@]host:port[/db]`, or `rediss://` for TLS. */
  url: string;
  /** Shown by `CLIENT LIST`. */
  connectionName: string;
  /**
   * `fail-fast`: a command waits at most `commandTimeoutMs`, also while the link is down, and rejects.
   * `blocking`: for connections that wait for work or messages; commands are held until the link is back.
   * @default 'fail-fast'
   */
  mode?: 'fail-fast' | 'blocking';
  /** @default 2000 */
  commandTimeoutMs?: number;
  /**
   * Commands of one turn of the event loop travel in one batch, one batch at a time: more throughput, more latency.
   * @default on for `fail-fast`
   */
  autoPipelining?: boolean;
  /**
   * Whether a command that was sent and not answered when the link broke is sent again. Without, it fails by
   * `commandTimeoutMs`; its author learns that it may have happened.
   * @default true
   */
  resendUnanswered?: boolean;
  logger?: Logger;
}

/**
 * A Redis client that connects on its first command (or `connect()`), reconnects for ever with a backoff of
 * 50 ms … 1 s, and never throws an unhandled `error` event. The caller closes it.
 */
export function createRedisConnection(options: RedisConnectionOptions): Redis {
  assertRedisUrl(options.url);
  const failFast = (options.mode ?? 'fail-fast') === 'fail-fast';
  const redis = new Redis(options.url, {
    connectionName: options.connectionName,
    lazyConnect: true,
    enableAutoPipelining: options.autoPipelining ?? failFast,
    maxRetriesPerRequest: failFast ? 3 : null,
    ...(failFast ? { commandTimeout: options.commandTimeoutMs ?? 2000 } : {}),
    autoResendUnfulfilledCommands: options.resendUnanswered ?? true,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 5), 1000),
  });
  redis.on('error', (error) =>
    options.logger?.warn('redis connection failed', { error, connection: options.connectionName }),
  );
  return redis;
}

/** @throws InvalidOptionError when `url` is not a Redis URL */
export function assertRedisUrl(url: string, option = 'redis-url'): void {
  const parsed = URL.parse(url);
  if (!parsed || !['redis:', 'rediss:'].includes(parsed.protocol)) {
    throw new InvalidOptionError(option, 'is not a redis:// or rediss:// URL');
  }
}
