import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';

/** `Warning` for what a person may have to look at. */
export type EventType = 'Normal' | 'Warning';

/** An occurrence of an object, in words for people. */
export interface EventNote {
  readonly type: EventType;
  /** UpperCamelCase word: the machine-readable cause. */
  readonly reason: string;
  readonly message: string;
  /** The action of the recorder, for example `Binding`. @default none */
  readonly action?: string;
}

/**
 * Writes Events about objects: in the background, aggregated (a repeat increases the count of the first), best effort;
 * never blocks or fails the sync that records it.
 */
export interface EventRecorder {
  record(about: DeepReadonly<KubernetesObject>, note: EventNote): void;
}

/** The outcome of an event: written; refused or out of attempts; or never tried. */
export type EventEnd = 'written' | 'failed' | 'dropped';

/** Metrics of the recorder. */
export interface EventRecorderMetrics {
  ended(end: EventEnd): void;
}

export const noEventRecorderMetrics: EventRecorderMetrics = { ended: () => undefined };
