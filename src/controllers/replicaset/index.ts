export { createReplicaSetController, replicaSetController } from './definition.js';
export { ReplicaSetReconciler } from './reconcile.js';
export type { PlannedPods, SeenReplicaSet } from './reconcile.js';
export { TEMPLATE_HASH_INDEX, templateHashIndex } from './related-pods.js';
export type { ReplicatedKind } from './replicated-kind.js';
export { compileReplicaSetControllerOptions } from './replicaset.options.js';
export type { ReplicaSetControllerOptions } from './replicaset.options.js';
export { hasReplicaFailure } from './status.js';
export { isRelevantPodChange, isReplicaSetDue, podUrgency, replicaSetUrgency } from './watch-replicasets.js';
