import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';

export type EventType = 'Normal' | 'Warning';

/** What happened to an object, for people. */
export interface EventNote {
  readonly type: EventType;
  /** UpperCamelCase word, the machine-readable cause. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Writes Events about objects: in the background, aggregated (a repeated event raises the count of the first),
 * best effort; never blocks or fails the sync that records it.
 */
export interface EventRecorder {
  record(about: DeepReadonly<KubernetesObject>, note: EventNote): void;
}

/** What became of an event: with the API server, refused or not to be written within its attempts, or never tried. */
export type EventEnd = 'written' | 'failed' | 'dropped';

/** What the recorder tells of itself. */
export interface EventRecorderMetrics {
  ended(end: EventEnd): void;
}

export const noEventRecorderMetrics: EventRecorderMetrics = { ended: () => undefined };
