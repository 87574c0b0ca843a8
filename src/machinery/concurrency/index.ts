export { ConcurrencyLimit } from './concurrency-limit.js';
export type { GiveWay } from './concurrency-limit.js';
export { HeldLock } from './held-lock.js';
export type { HeldLockOptions } from './held-lock.js';
