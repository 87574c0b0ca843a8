/** How a sync ended, the label of `controller_runtime_reconcile_total` as controller-runtime names them. */
export type ReconcileOutcomeLabel = 'success' | 'requeue_after' | 'error' | 'terminal_error' | 'put_off';

/** What a controller tells about its syncs. */
export interface ControllerMetrics {
  reconciled(controller: string, outcome: ReconcileOutcomeLabel, seconds: number): void;
  /** How long a sync waited until its caches had caught up; most often 0. */
  caughtUp(controller: string, seconds: number): void;
  activeWorkers(controller: string, change: 1 | -1): void;
  /** A cache was behind: a decision from an old state was avoided, by waiting or by coming back later. */
  staleReadAvoided(controller: string): void;
  /** A sync found intents that an earlier one, perhaps of a dead replica, had stored and not settled. */
  intentsReplayed(controller: string): void;
  /** A reconciler failed in a way that is a mistake of ours (a TypeError, say), as controller-runtime counts panics. */
  panicked(controller: string): void;
  /** A sync took longer than it may, and was told to end. */
  timedOut(controller: string): void;
  /** Syncs whose keys were let go because they did not end when they were told to: one more, or one that has ended after all. */
  abandoned(controller: string, change: 1 | -1): void;
  /** An object asked for work and the queue knew nothing of its key. Expected never to happen. */
  unqueued(controller: string): void;
}

/** Counts nothing. */
export const noControllerMetrics: ControllerMetrics = {
  reconciled: () => undefined,
  caughtUp: () => undefined,
  activeWorkers: () => undefined,
  staleReadAvoided: () => undefined,
  intentsReplayed: () => undefined,
  panicked: () => undefined,
  timedOut: () => undefined,
  abandoned: () => undefined,
  unqueued: () => undefined,
};
