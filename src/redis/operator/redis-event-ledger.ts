import { createHash } from 'node:crypto';
import type { EventLedger, SeriesName, SimilarGroup } from '@rollkeeper/client/events';
import type { RedisConnection } from '../connection/index.js';
import { LuaScript, SharedSteps } from '../connection/index.js';

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

const nameSeries = new LuaScript<[name: string, similar: number]>(
  new URL('./lua/name-series-4.lua', import.meta.url),
);

/**
 * The names of Events and the counts of similar ones, in four hashes of limited size that expire. One step for each
 * series that a replica begins, and two more if it is combined. The steps of one turn of the event loop are one command.
 */
export class RedisEventLedger implements EventLedger {
  private readonly remembered: number;
  private readonly steps: SharedSteps;
  private readonly keys: readonly string[];

  constructor({ keyPrefix, redis, remembered }: RedisEventLedgerOptions) {
    this.remembered = remembered ?? REMEMBERED;
    this.steps = new SharedSteps(redis);
    // In a Redis Cluster, all of them are in one slot.
    this.keys = ['new', 'old', 'similar-new', 'similar-old'].map((name) => `{${keyPrefix}:events}:${name}`);
  }

  async nameOf(series: string, proposed: string, within?: SimilarGroup): Promise<SeriesName> {
    const [name, similar] = await this.name(series, proposed, 'keep', within);
    return name === COMBINED ? 'combined' : { name, isNew: name === proposed, similar };
  }

  async combine(series: string): Promise<void> {
    await this.name(series, COMBINED, 'replace');
  }

  private name(
    series: string,
    proposed: string,
    existing: 'keep' | 'replace',
    within?: SimilarGroup,
  ): Promise<[name: string, similar: number]> {
    const group = within ? [digest(within.group), within.forgottenAfterMs] : ['', 0];
    const args = [digest(series), proposed, this.remembered, KEPT_MS, existing, ...group];
    return this.steps.run(nameSeries.call(this.keys, args));
  }
}

/** The digest of a series, which is as long as its message. */
function digest(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
