import type { Clock } from '../../base/clock/index.js';
import { errorMessage } from '../../base/errors/index.js';
import { EVENTS, qualifiedResource } from '../../base/kubernetes/index.js';
import type { KubernetesObject } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import { isStorageConflict, isStorageNotFound } from '../storage/index.js';
import type { Storage, StorageCursor } from '../storage/index.js';

export interface EventExpiryOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long an Event is kept after it was last seen, milliseconds. @default one hour, as `--event-ttl` */
  readonly ttlMs?: number;
  /** Pause between two sweeps, milliseconds. @default one minute */
  readonly intervalMs?: number;
}

const PAGE = 500;
/** Characters. */
const PAGE_LENGTH = 1024 * 1024;

/** Removes Events that nobody has seen again for an hour. */
export class EventExpiry {
  constructor(private readonly options: EventExpiryOptions) {}

  /** Sweeps until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, intervalMs = 60_000 } = this.options;
    while (!signal.aborted) {
      await clock.sleep(intervalMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.sweep().catch((error: unknown) =>
        logger.warn('removing old events failed, trying again later', { error: errorMessage(error) }),
      );
    }
  }

  /** @returns how many were removed */
  async sweep(): Promise<number> {
    const { storage, clock, ttlMs = 3_600_000 } = this.options;
    const before = clock.now() - ttlMs;
    let removed = 0;
    let cursor: StorageCursor | undefined;
    do {
      const page = await storage.list(qualifiedResource(EVENTS), {
        limit: PAGE,
        maxTextLength: PAGE_LENGTH,
        continueFrom: cursor,
      });
      for (const { object, revision } of page.items) {
        if (lastSeen(object) >= before) continue;
        if (await this.remove(object, revision)) removed++;
      }
      cursor = page.next;
    } while (cursor);
    return removed;
  }

  /** An event that was seen again meanwhile stays. */
  private async remove({ metadata }: KubernetesObject, revision: number): Promise<boolean> {
    const key = {
      resource: qualifiedResource(EVENTS),
      namespace: metadata.namespace ?? '',
      name: metadata.name,
    };
    try {
      await this.options.storage.delete(key, revision);
      return true;
    } catch (error) {
      if (isStorageConflict(error) || isStorageNotFound(error)) return false;
      throw error;
    }
  }
}

function lastSeen(object: KubernetesObject): number {
  const event = object as KubernetesObject & {
    lastTimestamp?: string;
    eventTime?: string;
    series?: { lastObservedTime?: string };
  };
  const times = [
    event.series?.lastObservedTime,
    event.lastTimestamp,
    event.eventTime,
    event.metadata.creationTimestamp,
  ];
  return Math.max(0, ...times.map((time) => (time ? Date.parse(time) || 0 : 0)));
}
