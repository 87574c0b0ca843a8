export { createReplicaSetController, replicaSetController } from './definition.js';
export { POD_DELETION_COST } from './pods-to-delete.js';
export { ReplicaSetReconciler } from './reconcile.js';
export type { ReplicaSetReconcilerDependencies } from './reconcile.js';
export { compileReplicaSetControllerOptions } from './replicaset.options.js';
export type {
  CompiledReplicaSetControllerOptions,
  ReplicaSetControllerOptions,
} from './replicaset.options.js';
export { FAILED_CREATE, FAILED_DELETE, REPLICA_FAILURE } from './status.js';
