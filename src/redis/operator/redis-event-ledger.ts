import { createHash } from 'node:crypto';
import type { EventLedger, SeriesName } from '@rollkeeper/client/events';
import type { RedisConnection } from '../connection/index.js';

export interface RedisEventLedgerOptions {
  /** Returns the connection. Called for each command. */
  readonly redis: () => Pick<RedisConnection, 'multi' | 'set'>;
  /** Of the installation. */
  readonly keyPrefix: string;
}

/** As long as an API server keeps Events by default (`--event-ttl`). Until then a series goes on under its first name. */
const KEPT_MS = 3_600_000;

/**
 * The names of Events and the counts of similar ones, each in a key of its own that expires. One command for each series
 * that a replica begins, and one more if no replica has begun it before.
 */
export class RedisEventLedger implements EventLedger {
  constructor(private readonly options: RedisEventLedgerOptions) {}

  async nameOf(series: string, proposed: string): Promise<SeriesName> {
    const known = await this.options
      .redis()
      .set(this.keyOf('event', series), proposed, 'PX', KEPT_MS, 'NX', 'GET');
    return { name: known ?? proposed, isNew: known === null };
  }

  async countSimilar(group: string, forgottenAfterMs: number): Promise<number> {
    const key = this.keyOf('similar-events', group);
    const replies = await this.options.redis().multi().incr(key).pexpire(key, forgottenAfterMs).exec();
    return Number(replies?.[0]?.[1] ?? 0);
  }

  private keyOf(what: string, id: string): string {
    return `${this.options.keyPrefix}:${what}:${createHash('sha256').update(id).digest('base64url')}`;
  }
}
