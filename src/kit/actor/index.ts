export type { AcquireOutcome, ActorId, ActorStore, FinalState, LockProof } from './actor-store.js';
export { compileActorOptions } from './actor.options.js';
export type { ActorOptions, CompiledActorOptions } from './actor.options.js';
export type {
  ActivateOptions,
  Activation,
  ActorRuntime,
  ActorState,
  EarlyAcquisition,
  ResourceVersions,
  WorkLimit,
} from './actor.js';
export { MemoryActorRuntime, MemoryActorStore } from './memory-actor-runtime.js';
export type { MemoryActorRuntimeDependencies } from './memory-actor-runtime.js';
export { StoredActorRuntime } from './stored-actor-runtime.js';
export type { StoredActorRuntimeDependencies } from './stored-actor-runtime.js';
