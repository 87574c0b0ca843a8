/** Extra pods of both versions for a time, beside those that the Deployment counts. */
export interface Experiment {
  readonly kind: 'experiment';
  /** How long they run once all of them are available, milliseconds. */
  readonly ms: number;
  /** The number of pods of the version that serves. @default 0 */
  readonly baseline: number;
  /** The number of pods of the new version. */
  readonly canary: number;
  /** Whether they have the labels of the Deployment's pods, so that its Services select them. */
  readonly isServing: boolean;
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
