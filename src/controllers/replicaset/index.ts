export { createReplicaSetController, replicaSetController } from './definition.js';
export { ReplicaSetReconciler } from './reconcile.js';
export type { ReplicaSetReconcilerDependencies } from './reconcile.js';
export { compileReplicaSetControllerOptions } from './replicaset.options.js';
export type {
  CompiledReplicaSetControllerOptions,
  ReplicaSetControllerOptions,
} from './replicaset.options.js';
export { REPLICA_FAILURE } from './status.js';
