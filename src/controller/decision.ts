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
  /** Limits, counts: what it was decided from. Flat, for span attributes. */
  readonly inputs: Attributes;
}

/**
 * Told by reconcilers what they do between their writes. Cheap where nobody listens: attributes are asked for by a
 * function.
 */
export interface SyncObserver {
  /** Runs a step of the sync that writes nothing (reading caches, deciding) as a part of its own. */
  step<T>(name: string, work: () => T, describe?: (result: T) => Attributes): T;
  decided(decision: () => Decision): void;
}

/** Runs steps and tells nobody. */
export const noSyncObserver: SyncObserver = {
  step: (_name, work) => work(),
  decided: () => undefined,
};
