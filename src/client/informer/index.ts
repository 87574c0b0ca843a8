export { Backoff } from './backoff.js';
export { deepFreeze, SharedInformer } from './shared-informer.js';
export { cacheNameOf } from './cached-type.js';
export type { ObjectPart, PartialType, WholeType } from './cached-type.js';
export { InformerFactory } from './informer-factory.js';
export type {
  InformerFactoryOptions,
  InformerSelection,
  MetadataInformer,
  MetadataInformerOptions,
} from './informer-factory.js';
export { NAMESPACE_INDEX, OWNER_UID_INDEX } from './informer.js';
export { controlledBy, ownedBy } from './owned-by.js';
export type {
  IndexFunction,
  Informer,
  InformerTrouble,
  Lister,
  ResourceEvent,
  ResourceEventHandler,
  ShardHandler,
  ShardProgress,
  VersionScope,
} from './informer.js';
export type { ListWatcher } from './list-everything.js';
export type { SharedInformerOptions } from './shared-informer.options.js';
export { ObjectStore } from './store.js';
export { StreamingLists } from './streaming-lists.js';
export {
  DEFAULT_TRIMS,
  dropManagedFields,
  trimFor,
  trimPod,
  trimPodKeepingSpec,
  trimToOwnership,
  trimsFor,
} from './trim.js';
export type { ContentTrim, Trim } from './trim.js';
