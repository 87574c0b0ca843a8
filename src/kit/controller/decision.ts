import type { Attributes } from '@opentelemetry/api';

/** What a pass has decided, for its span, the log and whoever explains it. */
export interface Decision {
  /** Which way was taken, for example `rolling-update`, `scale`, `paused`, `create-pods`. */
  readonly branch: string;
  /** One line for people: `web-5d: 3 -> 5; web-7f: 8 -> 6`. Empty where nothing changes. */
  readonly summary: string;
  /** Whether anything will be written that somebody asked for; a status that only follows does not count. */
  readonly changes: boolean;
  /**
   * One of thousands alike, as when pods are collected: told in its span and at level debug, and not remembered.
   * @default false
   */
  readonly routine?: boolean;
  /** Limits, counts: what it was decided from. Flat, for attributes. */
  readonly inputs: Attributes;
}

/**
 * Told by reconcilers what they do between their writes. Cheap where nobody listens: what there is to tell is asked for by
 * a function. A sync that looks again, after a conflict, tells again.
 */
export interface SyncObserver {
  /** What the caches show, and at which resourceVersion. */
  found(describe: () => Attributes): void;
  /** Runs `work`, the part of the sync that decides and writes nothing, and is told what it came to. */
  decide<T>(work: () => T, describe: (decided: T) => Decision): T;
}

/** Lets the reconciler decide and tells nobody. */
export const noSyncObserver: SyncObserver = {
  found: () => undefined,
  decide: (work) => work(),
};
