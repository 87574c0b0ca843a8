export { compileReplicaOptions, stopsWithinMs } from './replica.options.js';
export type { CompiledReplicaOptions } from './replica.options.js';
export type { ReplicaOptions } from './replica-options.table.js';
export { runReplica } from './run-replica.js';
