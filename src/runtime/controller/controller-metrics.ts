/** The outcome of a sync: label of `controller_runtime_reconcile_total`, with controller-runtime's names. */
export type ReconcileOutcomeLabel = 'success' | 'requeue_after' | 'error' | 'terminal_error' | 'put_off';

/** Metrics of a controller's syncs. */
export interface ControllerMetrics {
  reconciled(controller: string, outcome: ReconcileOutcomeLabel, seconds: number): void;
  /** How long a sync waited for its caches to catch up; usually 0. */
  caughtUp(controller: string, seconds: number): void;
  activeWorkers(controller: string, change: 1 | -1): void;
  /** A cache was behind: a stale decision was avoided, by waiting or by coming back later. */
  staleReadAvoided(controller: string): void;
  /** A sync found unsettled intents of an earlier one, perhaps on a dead replica. */
  intentsReplayed(controller: string): void;
  /** A reconciler failed because of a bug (a TypeError, say), as controller-runtime counts panics. */
  panicked(controller: string): void;
  /** A sync exceeded its time limit and was cancelled. */
  timedOut(controller: string): void;
  /** Syncs abandoned because they did not end when cancelled: one more, or one that has ended after all. */
  abandoned(controller: string, change: 1 | -1): void;
  /** An object needed work and the queue did not know its key. Expected never to happen. */
  unqueued(controller: string): void;
}

/** Records nothing. */
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
