import type { Logger } from '@rollkeeper/machinery/logging';
import type { RedisConnection } from '../connection/index.js';
import { createRedisConnection, hashTagOf } from '../connection/index.js';

/** The options of {@link RedisLeaseLinks}. */
export interface RedisLeaseLinksOptions {
  /** `redis://[user:password@]host:port[/db]`, or `rediss://` for TLS. */
  readonly url: string;
  /** Prefix of every key. @default 'rollkeeper:' */
  readonly keyPrefix?: string;
  /** Name of the lease; electors with the same name elect one leader. @default 'leader' */
  readonly name?: string;
  /** A command without an answer after this time has failed. @default 1000 */
  readonly commandTimeoutMs?: number;
  readonly logger?: Logger;
}

/** One process's connections for one lease in Redis: one for commands and one for subscriptions. Created lazily. */
export class RedisLeaseLinks {
  readonly key: string;
  private connection: RedisConnection | undefined;
  private subscriber: RedisConnection | undefined;

  constructor(private readonly options: RedisLeaseLinksOptions) {
    const { keyPrefix = 'rollkeeper:', name = 'leader' } = options;
    this.key = `${keyPrefix}lease:${name}`;
  }

  /** The channel on which a release is published. */
  get releasedChannel(): string {
    return `${this.key}:released`;
  }

  /** The shard channel that a process subscribes to while it is alive; served by the lease's server. */
  aliveChannel(identity: string): string {
    return `{${hashTagOf(this.key)}}:alive:${identity}`;
  }

  /** The shard channel that every process of the election subscribes to, so that their number is known. */
  get everyChannel(): string {
    return `{${hashTagOf(this.key)}}:alive`;
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
