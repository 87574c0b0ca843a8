import { parseTimeMs } from '../../../shared/index.js';

/** Extra pods of both versions for a time, beside those that the Deployment counts. */
export interface Experiment {
  readonly kind: 'experiment';
  /** How long they run once all of them are available, milliseconds. */
  readonly ms: number;
  /** The number of pods of the version that serves. @default 0 */
  readonly baseline: number;
  /** The number of pods of the new version. */
  readonly canary: number;
  /** Pods of further revisions that are kept, by their numbers. */
  readonly revisions: readonly { readonly revision: string; readonly replicas: number }[];
  /** Whether they have the labels of the Deployment's pods, so that its Services select them. */
  readonly isServing: boolean;
  /** Whether each version has a Service of its own, which selects its pods alone. */
  readonly hasServices: boolean;
  /** Checks of these pods. */
  readonly checks: readonly string[];
}

/** An experiment of a pass. */
export interface ExperimentAt {
  readonly experiment: Experiment;
  /** Counted from 1. */
  readonly step: number;
  /** When its ReplicaSets are removed at the latest, epoch milliseconds. */
  readonly untilMs: number;
}

/** The pods of an experiment have this long to become available, milliseconds. Then they are removed. */
export const PATIENCE_MS = 600_000;

/** The part of a rollout's position that says since when an experiment waits for its pods. */
interface Asked {
  /** When the step began, RFC 3339. */
  readonly since: string;
  /** When its pods were asked for, RFC 3339. @default since */
  readonly from?: string;
}

/** Since when the experiment at a step waits for its pods, epoch milliseconds. */
export function askedMs({ from, since }: Asked): number {
  return parseTimeMs(from ?? since) ?? 0;
}

/** Whether the pods of the experiment at a step have not become available in time. */
export function isTooLate(asked: Asked, nowMs: number): boolean {
  return nowMs >= askedMs(asked) + PATIENCE_MS;
}
