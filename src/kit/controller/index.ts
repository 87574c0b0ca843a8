export { waitUntilCaughtUp } from './caught-up.js';
export type { CaughtUp, InformerByResource } from './caught-up.js';
export type {
  BuiltController,
  ControllerDefinition,
  ControllerDependencies,
  Enqueue,
  EnqueueRequest,
  InformerSource,
  DueWork,
  LeadingWork,
  UnreadableResource,
} from './controller-definition.js';
export { noControllerMetrics } from './controller-metrics.js';
export type { ControllerMetrics, ReconcileOutcomeLabel } from './controller-metrics.js';
export { Controller } from './controller.js';
export type { ActivationClient, ControllerOptions } from './controller.js';
export { noSyncObserver } from './decision.js';
export type { Decision, SyncObserver } from './decision.js';
export { classifyFailure } from './classify-failure.js';
export type { FailureClass } from './classify-failure.js';
export { decideOutcome } from './decide-outcome.js';
export type { Outcome, SyncEnd } from './decide-outcome.js';
export { dueObjects } from './due-objects.js';
export { ABANDON_AFTER_MS, DEFAULT_SYNC_TIMEOUT_MS } from './sync-overruns.js';
export { UnqueuedSweep } from './unqueued-sweep.js';
export type { UnqueuedSweepOptions } from './unqueued-sweep.js';
export { Enqueuer } from './enqueuer.js';
export type { EnqueuerOptions } from './enqueuer.js';
export type {
  IntentStore,
  ReconcileContext,
  ReconcileRequest,
  ReconcileResult,
  Reconciler,
} from './reconciler.js';
