export type { AcquireOutcome, ActorId, ActorStore, FinalState, LockProof } from './actor-store.js';
export { compileActorOptions, StoredActorRuntime } from './stored-actor-runtime.js';
export type {
  ActorOptions,
  CompiledActorOptions,
  StoredActorRuntimeDependencies,
} from './stored-actor-runtime.js';
export type {
  ActivateOptions,
  Activation,
  ActorRuntime,
  ActorState,
  EarlyAcquisition,
  WorkLimit,
} from './activation.js';
export type {
  ActivationAdds,
  ActivationOutcome,
  Activations,
  AddCauses,
  ControllerQueue,
  TakeOptions,
  TakenKey,
} from './activations.js';
export { beginTerm, keepChecking, tellingOfRefusal } from './leader-term.js';
export { QueuedActivations } from './queued-activations.js';
export type { OneStepAdds, QueuedActivationsParts, StartedLock } from './queued-activations.js';
export type { UnansweredWrite } from './unanswered-write.js';
export { MemoryActorStore } from './memory-actor-store.js';
