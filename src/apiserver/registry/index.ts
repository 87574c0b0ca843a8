export { applyObject } from './apply-object.js';
export { applyScale } from './apply-scale.js';
export { createObject, ensureDefaultServiceAccount } from './create-object.js';
export type { CreateOptions } from './create-object.js';
export { decideDeletion } from './decide-deletion.js';
export type { DeletionPlan, DeletionRequest, PropagationPolicy } from './decide-deletion.js';
export { deleteObject } from './delete-object.js';
export type { DeletionOutcome } from './delete-object.js';
export { evictPod } from './evict-pod.js';
export { contextOf, stateOf, storageKeyOf } from './registry-context.js';
export type {
  DefinitionObserver,
  ObjectTarget,
  RegistryContext,
  WriteGuard,
  WriteJudge,
} from './registry-context.js';
export { translateStorageError, translateStoreFailure } from './translate-storage-error.js';
export { updateObject } from './update-object.js';
export type { TryUpdate, UpdateOptions } from './update-object.js';
