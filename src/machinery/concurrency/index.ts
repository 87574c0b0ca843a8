export { ConcurrencyLimit } from './concurrency-limit.js';
export type { GiveWay } from './concurrency-limit.js';
