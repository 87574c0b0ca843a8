/** How a sync ended, the label of `controller_runtime_reconcile_total` as controller-runtime names them. */
export type ReconcileOutcomeLabel = 'success' | 'requeue_after' | 'error' | 'terminal_error' | 'put_off';

/** What a controller tells about its syncs. */
export interface ControllerMetrics {
  reconciled(controller: string, outcome: ReconcileOutcomeLabel, seconds: number): void;
  /** A sync waited until its caches had caught up. */
  caughtUp(controller: string, seconds: number): void;
  activeWorkers(controller: string, change: 1 | -1): void;
}

/** Counts nothing. */
export const noControllerMetrics: ControllerMetrics = {
  reconciled: () => undefined,
  caughtUp: () => undefined,
  activeWorkers: () => undefined,
};
