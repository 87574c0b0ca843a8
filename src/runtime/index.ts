/**
 * The entry point for authors of controllers: `import { … } from 'rollkeeper'`. Start at {@link createManager} and
 * {@link defineController}.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export type {
  ClusterClaims,
  Coordination,
  CoordinationFactory,
  CoordinationParts,
  CoordinationReach,
} from './operator/coordination/coordination.js';
export type { CoordinationMode } from './operator/manager/decide-coordination.js';
export { ControllerManager } from './operator/manager/controller-manager.js';
export { createManager } from './operator/manager/create-manager.js';
export type { CreateManagerOptions } from './operator/manager/create-manager.options.js';
export { defineCustomKind, definitionOf, withRules } from './operator/kinds/custom-kind.js';
export type {
  CustomKind,
  CustomKindOptions,
  CustomObject,
  PrinterColumn,
  ValidationRule,
} from './operator/kinds/custom-kind.js';
export { defineController } from './operator/define/define-controller.js';
export { indexBy, workOf } from './operator/define/controller-spec.js';
export type {
  ControllerBehaviour,
  ControllerChoices,
  ControllerTraits,
  DecidingReconciler,
  KeyLimit,
  KindIndex,
  ReconcileContext,
  Reconciler,
} from './operator/define/controller-spec.js';
export { findAdopters, findOwner, ownerRefOf } from './operator/define/find-owners.js';
export { withFinalizer } from './operator/objects/finalizer.js';
export type { FinalizerSteps } from './operator/objects/finalizer.js';
export { defineKind, partOf, typeMeta } from './operator/kinds/kinds.js';
export * from '@rollkeeper/machinery/kubernetes/kinds';
export type { CachedKind, KindOptions, ObjectOf, PartialKind } from './operator/kinds/kinds.js';
export {
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './operator/objects/owners.js';
export {
  allOf,
  annotationsChanged,
  anyOf,
  generationChanged,
  labelsChanged,
  matching,
  not,
  resourceVersionChanged,
} from './operator/define/predicates.js';
export type { Predicate } from './operator/define/predicates.js';
export type {
  ExtendedManager,
  ManagerExtension,
  ManagerExtensionContext,
  ManagerExtensionFactory,
} from './operator/manager/manager-extension.js';
export type { PlannedWrite, SyncPlan } from './operator/manager/plan-sync.js';
export type { SlotOwners } from './operator/manager/slot-owners.js';
export type { ProbeServerOptions } from './operator/manager/probe-server.js';
export { stopSignal } from './operator/manager/stop-signal.js';
export {
  POD_TEMPLATE_HASH,
  SELECTOR_INDEX,
  labelIndexValue,
  selectorIndex,
  selectorIndexValue,
  selectorIndexValuesFor,
} from './operator/define/selector-index.js';
export type { LabelSelecting } from './operator/define/selector-index.js';
export { own, usualUrgency, watch } from './operator/define/watched-events.js';
export type {
  ListerOf,
  OwnOptions,
  OwnedKind,
  OwnerRelation,
  Urgency,
  WatchedKind,
} from './operator/define/watched-events.js';
export {
  createOrUpdate,
  patchStatus,
  retryOnConflict,
  serverSideApply,
  updateStatus,
} from './operator/objects/write-objects.js';
export type {
  ApplyObject,
  ApplyOptions,
  Part,
  RetryOnConflictOptions,
  WrittenObject,
} from './operator/objects/write-objects.js';
export { applyDependents, dependent } from './operator/objects/dependents.js';
export type { Dependent, DependentsOptions, DependentsOutcome } from './operator/objects/dependents.js';
export { PAUSED_ANNOTATION, isPaused } from './operator/define/paused.js';
export { evict, readScale, scale } from './operator/kinds/subresources.js';
export type { EvictOptions, Scale } from './operator/kinds/subresources.js';

// Input and output of a reconciler.
export type { ActResult, SyncSteps } from './operator/define/sync-steps.js';
export type {
  BegunSync,
  BuiltController,
  ControllerDefinition,
  ControllerDependencies,
  Decided,
  DecideStep,
  Decision,
  DueWork,
  Enqueue,
  EnqueueRequest,
  FailureClass,
  InformerSource,
  IntentStore,
  LeadingWork,
  NamespaceOf,
  ReconcileRequest,
  ReconcileResult,
  SyncAccess,
  SyncFollower,
  SyncKey,
  SyncObserver,
  UnreadableResource,
  WriteRight,
} from './controller/index.js';
export { RIGHTS, classifyFailure, noteCachesRead } from './controller/index.js';
export { isCustomKind } from './operator/kinds/custom-kind.js';
export type { PolicyRule } from './operator/define/declared-rights.js';
export type { EventNote, EventObject, EventRecorder, EventType } from '@rollkeeper/client/events';

// The API.
export type {
  ApiClient,
  ClusterConnection,
  DeleteOptions,
  DeleteResult,
  DiscoverOptions,
  DiscoveredResource,
  DiscoveredResources,
  ExecOptions,
  ExecResult,
  ForwardPortOptions,
  ForwardedPort,
  HttpApiClient,
  HttpApiClientOptions,
  ListOptions,
  ListPage,
  LogOptions,
  PatchType,
  PortForwardOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '@rollkeeper/client/api-client';
export {
  ApiStatusError,
  apiStatusOf,
  createHttpApiClient,
  forwardPort,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isObjectNotFound,
  listAll,
  loadKubeconfig,
  unlessGone,
} from '@rollkeeper/client/api-client';
export type {
  Condition,
  DeepReadonly,
  Int64,
  Kind,
  KubernetesObject,
  ObjectMeta,
  ObjectRef,
  OwnerReference,
  ResourceType,
  TypedResource,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';
export {
  cloneJson,
  compileLabelSelector,
  controllerOf,
  findCondition,
  isConditionTrue,
  isControlledBy,
  keyOf,
  newControllerRef,
  parseKey,
  qualifiedResource,
  removeCondition,
  sameJson,
  setCondition,
  untyped,
} from '@rollkeeper/machinery/kubernetes';

// Caches.
export type {
  ContentTrim,
  IndexFunction,
  Informer,
  Lister,
  ResourceEvent,
  PartialType,
  WholeType,
} from '@rollkeeper/client/informer';
export {
  InformerFactory,
  NAMESPACE_INDEX,
  OWNER_UID_INDEX,
  dropManagedFields,
  trimPodKeepingSpec,
} from '@rollkeeper/client/informer';

// The ports of queues, actors and leader election. Implemented by `rollkeeper/redis`.
export type {
  AddOptions,
  Priority,
  QueueTuning,
  WorkHandler,
  WorkItem,
  WorkQueue,
  WorkQueueConsumer,
  WorkQueueInspector,
  WorkQueueOptions,
  WorkQueueTending,
} from './work-queue/index.js';
export type {
  Activation,
  ActivationAdds,
  ActivationOutcome,
  Activations,
  ActorRuntime,
  ActorStore,
  ControllerQueue,
  TakenKey,
} from './activation/index.js';
export { QueuedActivations } from './activation/index.js';
export type { LeaderElectionOptions, LeaderElectionRecord, ResourceLock } from './leader-election/index.js';
export { LeaderElector, LeaseResourceLock } from './leader-election/index.js';

// Process life cycle, health, metrics, traces, time, errors.
export type { ManagedController, ManagerState, Runnable } from './manager/index.js';
export type { HealthCheck, HealthEndpoint } from './health/index.js';
export { HealthRegistry } from './health/index.js';
export type { Metrics, Tracing } from './telemetry/index.js';
export type { Clock, RandomSource, TimerHandle } from '@rollkeeper/machinery/clock';
export { SystemClock, SystemRandom, toRfc3339 } from '@rollkeeper/machinery/clock';
export type {
  LogFields,
  LogFormat,
  LogLevel,
  Logger,
  PinoLoggerOptions,
} from '@rollkeeper/machinery/logging';
export { createPinoLogger, setLogLevel, silentLogger } from '@rollkeeper/machinery/logging';
export type { ErrorCode } from '@rollkeeper/machinery/errors';
export {
  IllegalStateError,
  InvalidOptionError,
  RollkeeperError,
  ShutdownError,
  StartupError,
  TerminalError,
  hasCode,
  isCancellation,
} from '@rollkeeper/machinery/errors';
export { VERSION } from '@rollkeeper/machinery/version';
