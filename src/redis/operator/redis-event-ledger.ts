import { createHash } from 'node:crypto';
import type { EventLedger, SeriesName } from '@rollkeeper/client/events';
import type { RedisConnection } from '../connection/index.js';
import { LuaScript } from '../connection/index.js';

interface RedisEventLedgerOptions {
  /** Returns the connection. Called for each command. */
  readonly redis: () => RedisConnection;
  /** The prefix of the installation's keys. */
  readonly keyPrefix: string;
  /** How many series, and how many groups, are remembered at least; twice as many at most. @default 4096 */
  readonly remembered?: number;
}

/** As many as one recorder remembers (client-go: `maxLruCacheEntries`). */
const REMEMBERED = 4096;
/** In place of the name of a series that is one of the combined ones. No Event can have this name. */
const COMBINED = '=';
/** As long as an API server keeps Events by default (`--event-ttl`). */
const KEPT_MS = 3_600_000;

const nameSeries = new LuaScript<string>(new URL('./lua/name-series-2.lua', import.meta.url));
const countSimilar = new LuaScript<number>(new URL('./lua/count-similar-2.lua', import.meta.url));

/**
 * The names of Events and the counts of similar ones, in four hashes of limited size that expire. One command for each
 * series that a replica begins, one more if no replica has begun it before, and two more if it is combined.
 */
export class RedisEventLedger implements EventLedger {
  private readonly remembered: number;

  constructor(private readonly options: RedisEventLedgerOptions) {
    this.remembered = options.remembered ?? REMEMBERED;
  }

  async nameOf(series: string, proposed: string): Promise<SeriesName> {
    const name = await this.name(series, proposed, 'keep');
    return name === COMBINED ? 'combined' : { name, isNew: name === proposed };
  }

  async combine(series: string): Promise<void> {
    await this.name(series, COMBINED, 'replace');
  }

  private name(series: string, proposed: string, existing: 'keep' | 'replace'): Promise<string> {
    const args = [digest(series), proposed, this.remembered, KEPT_MS, existing];
    return nameSeries.run(this.options.redis(), this.keysOf('events'), args);
  }

  countSimilar(group: string, series: string, forgottenAfterMs: number): Promise<number> {
    const args = [digest(group), this.remembered, forgottenAfterMs, digest(series)];
    return countSimilar.run(this.options.redis(), this.keysOf('similar-events'), args);
  }

  /** In a Redis Cluster, both are in one slot. */
  private keysOf(what: string): string[] {
    const key = `{${this.options.keyPrefix}:${what}}`;
    return [`${key}:new`, `${key}:old`];
  }
}

/** The digest of a series, which is as long as its message. */
function digest(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
