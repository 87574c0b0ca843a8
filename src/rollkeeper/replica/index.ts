export { compileReplicaOptions, stopsWithinMs } from './replica.options.js';
export type { CompiledReplicaOptions, ReplicaOptions } from './replica.options.js';
export { runReplica } from './run-replica.js';
