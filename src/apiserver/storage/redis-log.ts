import type { RedisConnection } from '@rollkeeper/redis/connection';
import { StorageExpiredError } from './errors.js';
import type { FollowedLog } from './follow-log.js';
import { BatchSize } from './batch-size.js';
import type { LogEntry } from './log-entry.js';
import type { RedisKeys } from './redis-layout.js';
import { parseLogEntry, streamId } from './redis-layout.js';
import type { Revision, StorageRoom, StorageWatchOptions } from './storage.js';
import type { WatchRing } from './watch-ring.js';

/** Entries in one go, and characters of them: small enough that others get their turn between two of them. */
const BATCH = 256;
const BATCH_LENGTH = 1024 * 1024;

/** Reads the watch log: from the ring where it reaches back far enough, else from the Redis stream. */
export class RedisLog {
  private readonly size = new BatchSize(BATCH, BATCH_LENGTH);

  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: RedisKeys,
  ) {}

  /** A watcher's view of a history; ends with it. */
  follow(ring: WatchRing, { reserve }: Pick<StorageWatchOptions, 'reserve'>): FollowedLog {
    let room: StorageRoom | undefined;
    const release = (): void => {
      room?.release();
      room = undefined;
    };
    const refuseFailed = (): void => {
      if (ring.failure) throw ring.failure;
    };
    return {
      get last() {
        return ring.failure ? Number.MAX_SAFE_INTEGER : ring.last;
      },
      readAfter: async (revision) => {
        release();
        refuseFailed();
        const known = ring.after(revision, BATCH, BATCH_LENGTH);
        if (known) return known;
        room = await reserve?.(BATCH_LENGTH);
        const stored = await this.readBatch(revision, ring.last);
        // Entries that were read after the failure are another history.
        refuseFailed();
        return stored;
      },
      onChange: (resource, wake) => ring.onChange(resource, wake),
      quietUntil: (resource) => ring.quietUntil(resource),
      close: release,
    };
  }

  /**
   * All entries behind `after` up to `upTo`, in batches.
   * @throws StorageExpiredError
   */
  async *between(
    after: Revision,
    upTo: Revision,
    ring: WatchRing | undefined,
  ): AsyncGenerator<readonly LogEntry[], void, undefined> {
    let position = after;
    while (position < upTo) {
      const known =
        ring && !ring.failure && ring.last >= upTo ? ring.after(position, BATCH, BATCH_LENGTH) : undefined;
      const batch = (known ?? (await this.readBatch(position, upTo))).filter(
        (entry) => entry.revision <= upTo,
      );
      position = batch.at(-1)?.revision ?? upTo;
      yield batch;
    }
  }

  private async readBatch(after: Revision, upTo: Revision): Promise<readonly LogEntry[]> {
    const reply = await this.redis.xrange(
      this.keys.log,
      streamId(after + 1),
      streamId(upTo),
      'COUNT',
      this.size.count,
    );
    const entries = reply.map(parseLogEntry);
    this.size.learn(entries);
    // Entries are chained and trimmed from the front, so only the first can be missing.
    if (entries[0]?.previousRevision !== after) {
      throw new StorageExpiredError(after, 'the watch log does not reach back so far, or never was there');
    }
    return entries;
  }
}
