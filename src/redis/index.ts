/**
 * The state that an operator's replicas share, on Redis and BullMQ: `import { … } from 'rollkeeper/redis'`.
 * `createManager` loads it unless it is given another coordination.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export { RedisActorRuntime } from './activation/redis-actor-runtime.js';
export type { RedisActorRuntimeDependencies } from './activation/redis-actor-runtime.js';
export { RedisActivationQueue } from './activation/redis-activation-queue.js';
export type { RedisActivationQueueDependencies } from './activation/redis-activation-queue.js';
export { RedisHolderWitness } from './leader-election/redis-holder-witness.js';
export type { RedisHolderWitnessOptions } from './leader-election/redis-holder-witness.js';
export { RedisLeaseLinks } from './leader-election/redis-lease-links.js';
export type { RedisLeaseLinksOptions } from './leader-election/redis-lease-links.js';
export { RedisResourceLock } from './leader-election/redis-resource-lock.js';
export type { RedisResourceLockOptions } from './leader-election/redis-resource-lock.js';
export { RedisClusterClaims } from './operator/redis-cluster-claims.js';
export type { RedisClusterClaimsOptions } from './operator/redis-cluster-claims.js';
export { redisCoordination } from './operator/redis-coordination.js';
export { BullMqWorkQueueConsumer } from './work-queue/bullmq-consumer.js';
export type { BullMqWorkQueueConsumerDependencies } from './work-queue/bullmq-consumer.js';
export { BullMqWorkQueue } from './work-queue/bullmq-work-queue.js';
export type {
  BullMqWorkQueueDependencies,
  JoinableAdds,
  StepAtStart,
} from './work-queue/bullmq-work-queue.js';
