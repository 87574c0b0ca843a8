import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { RedisActorRuntime, RedisQueuedActors } from '../../kit/actor/index.js';
import type { Clock, RandomSource } from '../../base/clock/index.js';
import type { ApiClient } from '../../kit/api-client/index.js';
import type { EventRecorder } from '../../kit/events/index.js';
import {
  LeaseCandidacy,
  LeaseResourceLock,
  RedisHolderWitness,
  RedisLeaseLinks,
  RedisResourceLock,
} from '../../kit/leader-election/index.js';
import type { Logger } from '../../base/logging/index.js';
import { parseRedisUrl } from '../../base/redis/index.js';
import type { Metrics } from '../../kit/telemetry/index.js';
import { createLeaderElectionMetrics, createWorkQueueMetrics } from '../../kit/telemetry/index.js';
import type { QueuePair } from '../../kit/operator/coordination.js';
import { localQueue } from '../../kit/operator/local-queue.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../kit/work-queue/index.js';
import { VERSION } from '../../base/version.js';
import { KubernetesApiModule } from './kubernetes-api.module.js';
import type { QueueFactory } from './queue-factory.js';
import { ReplicaElector } from './replica-elector.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { leaderElectionOf } from './replica.options.js';
import {
  ACTORS,
  API_CLIENT,
  CLOCK,
  ELECTOR,
  EVENTS,
  LOGGER,
  METRICS,
  OPTIONS,
  QUEUES,
  RANDOM,
} from './tokens.js';

const LEASE = 'leader';

/** What replicas share through Redis: queues, actors, the leader's lease. */
@Module({
  imports: [KubernetesApiModule],
  providers: [
    {
      provide: QUEUES,
      inject: [OPTIONS, CLOCK, LOGGER, METRICS],
      useFactory: createQueueFactory,
    },
    {
      provide: ACTORS,
      inject: [OPTIONS, CLOCK, LOGGER],
      useFactory: (options: CompiledReplicaOptions, clock: Clock, logger: Logger) =>
        new RedisActorRuntime({
          redisUrl: options['redis-url'],
          keyPrefix: options['key-prefix'],
          clock,
          logger,
        }),
    },
    {
      provide: ELECTOR,
      inject: [OPTIONS, API_CLIENT, EVENTS, CLOCK, RANDOM, LOGGER, METRICS],
      useFactory: createElector,
    },
  ],
  exports: [QUEUES, ACTORS, ELECTOR],
})
export class CoordinationModule {}

function createQueueFactory(
  options: CompiledReplicaOptions,
  clock: Clock,
  logger: Logger,
  { meter }: Metrics,
): QueueFactory {
  const metrics = createWorkQueueMetrics(
    meter,
    options.definitions.map(({ name }) => name),
  );
  const { 'key-prefix': keyPrefix, 'redis-url': redisUrl } = options;
  const isOneServer = parseRedisUrl(redisUrl).kind !== 'cluster';
  const drainTimeoutMs = options['drain-timeout-ms'];
  const shared = (name: string): QueuePair => {
    const queue = new BullMqWorkQueue({
      name,
      redisUrl,
      keyPrefix,
      actors: isOneServer ? new RedisQueuedActors({ controller: name, keyPrefix, clock }) : undefined,
      clock,
      logger,
      metrics,
      options: { drainTimeoutMs },
    });
    return { queue, consumer: new BullMqWorkQueueConsumer({ queue, logger }) };
  };
  return { shared, local: (name) => localQueue(name, { clock, logger, metrics, drainTimeoutMs }) };
}

function createElector(
  options: CompiledReplicaOptions,
  client: ApiClient,
  events: EventRecorder,
  clock: Clock,
  random: RandomSource,
  logger: Logger,
  { meter }: Metrics,
): ReplicaElector {
  // A process that comes back under its old name must not take its former life's lease for its own.
  const identity = `${options.identity}_${randomUUID()}`;
  const { 'key-prefix': prefix, 'redis-url': url } = options;
  const candidacy = options['leader-elect-coordinated']
    ? new LeaseCandidacy({
        ...{ client, clock, logger, name: identity, version: VERSION },
        ...{ namespace: leaseOf(options).namespace, leaseName: leaseOf(options).name },
      })
    : undefined;
  const inRedis = { url, keyPrefix: `${prefix}:`, name: LEASE, logger };
  const lock =
    options['leader-elect-resource-lock'] === 'leases'
      ? new LeaseResourceLock({ client, identity, clock, candidacy, ...leaseOf(options) })
      : new RedisResourceLock({ ...inRedis, identity });
  const links = lock instanceof RedisResourceLock ? lock.links : new RedisLeaseLinks(inRedis);
  return new ReplicaElector({
    lock,
    candidacy,
    witness: new RedisHolderWitness({ links, identity, clock, logger }),
    close: () => {
      lock.close();
      links.close();
    },
    lease: leaseOf(options),
    events,
    clock,
    random,
    logger,
    metrics: createLeaderElectionMetrics(meter, LEASE),
    options: leaderElectionOf(options),
  });
}

function leaseOf(options: CompiledReplicaOptions): { readonly namespace: string; readonly name: string } {
  return {
    namespace: options['leader-elect-resource-namespace'],
    name: options['leader-elect-resource-name'],
  };
}
