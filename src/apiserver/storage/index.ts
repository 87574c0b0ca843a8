export { UnreadableObjects } from './unreadable-objects.js';
export type { ObjectCheck } from './unreadable-objects.js';
export { lengthOf, lengthOfEvent, objectTextOf, originOf, toStorageEvent } from './log-entry.js';
export type { LogEntry, LoggedWrite } from './log-entry.js';
export {
  StorageConflictError,
  StorageExistsError,
  StorageExpiredError,
  StorageNotFoundError,
  StorageRefusesError,
  StorageTooLargeError,
  StorageUnavailableError,
  isStorageConflict,
  isStorageExists,
  isStorageExpired,
  isStorageNotFound,
  isStorageTooLarge,
  isStorageUnavailable,
  isStorageUnreadable,
  StorageUnreadableError,
} from './errors.js';
export { MemoryStorage } from './memory-storage.js';
export { RedisStorage } from './redis-storage.js';
export type { RedisStorageOptions } from './redis-storage.options.js';
export type {
  ObjectState,
  Revision,
  Storage,
  StorageCursor,
  StorageEvent,
  StorageKey,
  StorageList,
  StorageListOptions,
  StorageRecord,
  StorageWatchOptions,
  StoredObject,
} from './storage.js';
export { FollowedObjects, FollowedResource } from './followed-resource.js';
export type { BrokenObject, FollowDependencies } from './followed-resource.js';
export { FollowedResources } from './followed-resources.js';
export { pagesOf } from './pages-of.js';
export { withStorageMetrics } from './with-storage-metrics.js';
export { ViewedStorage } from './viewed-storage.js';
export type { Converted } from './viewed-storage.js';
export type { ObjectView } from './viewed-storage.js';
