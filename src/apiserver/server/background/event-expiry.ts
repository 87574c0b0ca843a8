import type { Event } from '@rollkeeper/machinery/types/core-v1';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { Event as EventKind, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { isStorageConflict, isStorageNotFound, pagesOf } from '../../storage/index.js';
import type { Storage } from '../../storage/index.js';

interface EventExpiryOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long an Event is kept after it was last seen, milliseconds. @default one hour, as `--event-ttl` */
  readonly ttlMs?: number;
  /** Pause between two sweeps, milliseconds. @default one minute */
  readonly intervalMs?: number;
}

/** Objects in one look at the store. */
const PAGE = 500;

/** Removes Events not seen again for an hour. */
export class EventExpiry {
  constructor(private readonly options: EventExpiryOptions) {}

  /** Sweeps until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, intervalMs = 60_000 } = this.options;
    while (!signal.aborted) {
      if (!(await pause(clock, intervalMs, signal))) return;
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
    for await (const { items } of pagesOf(storage, qualifiedResource(EventKind), { limit: PAGE }))
      for (const { object, revision } of items) {
        if (lastSeen(object) >= before) continue;
        if (await this.remove(object, revision)) removed++;
      }
    return removed;
  }

  /** An event that was seen again meanwhile stays. */
  private async remove({ metadata }: KubernetesObject, revision: number): Promise<boolean> {
    const key = {
      resource: qualifiedResource(EventKind),
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
  const event: DecodedObject<Event> = object;
  const times = [
    event.series?.lastObservedTime,
    event.lastTimestamp,
    event.eventTime,
    event.metadata.creationTimestamp,
  ];
  return Math.max(0, ...times.map((time) => (time ? Date.parse(time) || 0 : 0)));
}
