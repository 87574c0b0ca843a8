export type { HolderWitness, Sighting } from './holder-witness.js';
export { noLeaderElectionMetrics, compileLeaderElectionOptions } from './leader-election.options.js';
export type {
  LeaderElectionMetrics,
  CompiledLeaderElectionOptions,
  LeaderElectionOptions,
} from './leader-election.options.js';
export { LeaderElector } from './leader-elector.js';
export type { LeaderCallbacks, LeaderElectorDependencies } from './leader-elector.js';
export type { LeadershipTransition } from './lease-attempts.js';
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
