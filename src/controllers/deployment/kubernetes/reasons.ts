/** Reasons in conditions and events, the same as Kubernetes' (pkg/controller/deployment/util/deployment_util.go). */

/** Progressing: the size or the state of a ReplicaSet changed during a rollout. */
export const REPLICA_SET_UPDATED = 'ReplicaSetUpdated';
/** Progressing, and an event: the new ReplicaSet could not be created. */
export const REPLICA_SET_CREATE_ERROR = 'ReplicaSetCreateError';
/** Progressing: the new ReplicaSet was created. */
export const NEW_REPLICA_SET_CREATED = 'NewReplicaSetCreated';
/** Progressing: a ReplicaSet with the wanted template existed already. */
export const FOUND_NEW_REPLICA_SET = 'FoundNewReplicaSet';
/** Progressing: the rollout is complete. */
export const NEW_REPLICA_SET_AVAILABLE = 'NewReplicaSetAvailable';
/** Progressing: no progress for `progressDeadlineSeconds`. */
export const PROGRESS_DEADLINE_EXCEEDED = 'ProgressDeadlineExceeded';
/** Progressing: paused, so no progress is expected. */
export const DEPLOYMENT_PAUSED = 'DeploymentPaused';
/** Progressing: the deadline restarts here. */
export const DEPLOYMENT_RESUMED = 'DeploymentResumed';
/** Every reason that Kubernetes gives the condition Progressing. */
export const PROGRESS_REASONS: ReadonlySet<string> = new Set([
  REPLICA_SET_UPDATED,
  REPLICA_SET_CREATE_ERROR,
  NEW_REPLICA_SET_CREATED,
  FOUND_NEW_REPLICA_SET,
  NEW_REPLICA_SET_AVAILABLE,
  PROGRESS_DEADLINE_EXCEEDED,
  DEPLOYMENT_PAUSED,
  DEPLOYMENT_RESUMED,
]);
/** Available: at least `spec.replicas - maxUnavailable` pods are available. */
export const MINIMUM_REPLICAS_AVAILABLE = 'MinimumReplicasAvailable';
/** Available: fewer than that. */
export const MINIMUM_REPLICAS_UNAVAILABLE = 'MinimumReplicasUnavailable';

/** Event: a ReplicaSet was resized. */
export const SCALING_REPLICA_SET = 'ScalingReplicaSet';
/** Event: the rollback is done. */
export const ROLLBACK_DONE = 'DeploymentRollback';
/** Event: no ReplicaSet has the requested revision. */
export const ROLLBACK_REVISION_NOT_FOUND = 'DeploymentRollbackRevisionNotFound';
/** Event: the requested revision is the current one. */
export const ROLLBACK_TEMPLATE_UNCHANGED = 'DeploymentRollbackTemplateUnchanged';
/** Event: the selector is empty, so this Deployment is ignored. */
export const SELECTING_ALL = 'SelectingAll';
/** Event, our own: the object cannot be processed until it is changed. */
export const INVALID_DEPLOYMENT = 'InvalidDeployment';
