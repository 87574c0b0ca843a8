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
  WriteRight,
  LeadingWork,
  NamespaceOf,
  UnreadableResource,
} from './controller-definition.js';
export { noControllerMetrics } from './controller-metrics.js';
export type { ControllerMetrics, ReconcileOutcomeLabel } from './controller-metrics.js';
export { activationClient } from './activation-client.js';
export { Controller } from './controller.js';
export type { ActivationClient, ControllerOptions, ObstructedKeys } from './controller.js';
export { OBSTACLES, isObstructed, scopeOf } from './obstacles.js';
export type { Obstacle } from './obstacles.js';
export { classifyFailure } from './classify-failure.js';
export type { FailureClass } from './classify-failure.js';
export { decideOutcome } from './decide-outcome.js';
export type { SyncEnd } from './decide-outcome.js';
export { CONSTRUCT, RIGHTS, buildController, dueObjects } from './controller-definition.js';
export { ABANDON_AFTER_MS } from './sync-overruns.js';
export { DEFAULT_SYNC_TIMEOUT_MS } from '../defaults.js';
export { UnqueuedSweep } from './unqueued-sweep.js';
export type { UnqueuedSweepOptions } from './unqueued-sweep.js';
export { Enqueuer } from './enqueuer.js';
export type { EnqueuerOptions } from './enqueuer.js';
export type {
  Decided,
  DecideStep,
  Decision,
  IntentStore,
  ReconcileRequest,
  ReconcileResult,
  SyncAccess,
  SyncKey,
} from './reconciler.js';
export type { BegunSync, SyncFollower, SyncObserver } from './sync-observer.js';
export { noteCachesRead } from './sync-span-events.js';
