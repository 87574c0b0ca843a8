export { EVICTION_WEBHOOK_RULES, EvictedPods } from './evicted-pods.js';
export type { Eviction } from './evicted-pods.js';
export { holdEviction } from './hold-eviction.js';
export type { EvictedPod } from './hold-eviction.js';
export { parseWebhookAddress } from './webhook-address.js';
