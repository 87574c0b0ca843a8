export type { HolderWitness, Sighting } from './holder-witness.js';
export { noLeaderElectionMetrics } from './leader-election-metrics.js';
export type { LeaderElectionMetrics } from './leader-election-metrics.js';
export { compileLeaderElectionOptions } from './leader-election.options.js';
export type { CompiledLeaderElectionOptions, LeaderElectionOptions } from './leader-election.options.js';
export { LeaderElector } from './leader-elector.js';
export type { LeaderCallbacks, LeaderElectorDependencies } from './leader-elector.js';
export type { LeadershipTransition } from './leadership-history.js';
export { LeaseCandidacy } from './lease-candidate.js';
export type { LeaseCandidacyOptions } from './lease-candidate.js';
export { LeaseResourceLock } from './lease-resource-lock.js';
export type { LeaseResourceLockOptions } from './lease-resource-lock.js';
export { MemoryLease, MemoryResourceLock } from './memory-resource-lock.js';
export { isDeposed } from './resource-lock.js';
export type {
  DeposedHolder,
  LeaderElectionRecord,
  LeaseAttempt,
  LeaseRequest,
  ResourceLock,
} from './resource-lock.js';
