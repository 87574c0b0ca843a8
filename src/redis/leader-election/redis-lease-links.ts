import type { Logger } from '@rollkeeper/machinery/logging';
import type { RedisConnection } from '../connection/index.js';
import { createRedisConnection, hashTagOf } from '../connection/index.js';

export interface RedisLeaseLinksOptions {
  /** `redis://[user:password@]host:port[/db]`, or `rediss://` for TLS. */
  readonly url: string;
  /** In front of every key. @default 'rollkeeper:' */
  readonly keyPrefix?: string;
  /** Which lease; electors of one name elect one leader. @default 'leader' */
  readonly name?: string;
  /** After which time a command without an answer has failed. @default 1000 */
  readonly commandTimeoutMs?: number;
  readonly logger?: Logger;
}

/** What one process has to do with one lease in Redis: a connection for commands, and one that listens; made when asked for. */
export class RedisLeaseLinks {
  readonly key: string;
  private connection: RedisConnection | undefined;
  private subscriber: RedisConnection | undefined;

  constructor(private readonly options: RedisLeaseLinksOptions) {
    const { keyPrefix = 'rollkeeper:', name = 'leader' } = options;
    this.key = `${keyPrefix}lease:${name}`;
  }

  /** Where the news of a release goes. */
  get releasedChannel(): string {
    return `${this.key}:released`;
  }

  /** The shard channel that a process is subscribed to while it lives; served where the lease is. */
  aliveChannel(identity: string): string {
    return `{${hashTagOf(this.key)}}:alive:${identity}`;
  }

  get commands(): RedisConnection {
    const { logger, url } = this.options;
    const commandTimeoutMs = this.options.commandTimeoutMs ?? 1000;
    this.connection ??= createRedisConnection({ url, logger, commandTimeoutMs, connectionName: 'lease' });
    return this.connection;
  }

  get listener(): RedisConnection {
    const { logger, url } = this.options;
    this.subscriber ??= createRedisConnection({
      ...{ url, logger, connectionName: 'lease-listener' },
      mode: 'blocking',
      shardChannels: true,
    });
    return this.subscriber;
  }

  close(): void {
    this.connection?.disconnect();
    this.subscriber?.disconnect();
  }
}
