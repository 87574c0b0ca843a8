import { createHash } from 'node:crypto';
import type { EventLedger } from '@rollkeeper/client/events';
import type { RedisConnection } from '../connection/index.js';

export interface RedisEventLedgerOptions {
  /** Returns the connection. Called for each command. */
  readonly redis: () => Pick<RedisConnection, 'set'>;
  /** Of the installation. */
  readonly keyPrefix: string;
}

/** As long as an API server keeps Events by default (`--event-ttl`). Until then a series goes on under its first name. */
const KEPT_MS = 3_600_000;

/** The names of Events, each in a key of its own that expires. One command for each series that a replica begins. */
export class RedisEventLedger implements EventLedger {
  constructor(private readonly options: RedisEventLedgerOptions) {}

  async nameOf(series: string, proposed: string): Promise<string> {
    const { keyPrefix, redis } = this.options;
    const key = `${keyPrefix}:event:${createHash('sha256').update(series).digest('base64url')}`;
    return (await redis().set(key, proposed, 'PX', KEPT_MS, 'NX', 'GET')) ?? proposed;
  }
}
