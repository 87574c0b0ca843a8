import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { RedisActorRuntime } from '../actor/index.js';
import type { Clock, RandomSource } from '../clock/index.js';
import { RedisResourceLock } from '../leader-election/index.js';
import type { Logger } from '../logging/index.js';
import type { Metrics } from '../telemetry/index.js';
import { createLeaderElectionMetrics, createWorkQueueMetrics } from '../telemetry/index.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../work-queue/index.js';
import type { QueueFactory } from './queue-factory.js';
import { ReplicaElector } from './replica-elector.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { ACTORS, CLOCK, ELECTOR, LOGGER, METRICS, OPTIONS, QUEUES, RANDOM } from './tokens.js';

const LEASE = 'leader';

/** What replicas share through Redis: queues, actors, the leader's lease. */
@Module({
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
      inject: [OPTIONS, CLOCK, RANDOM, LOGGER, METRICS],
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
  return (name) => {
    const queue = new BullMqWorkQueue({
      name,
      redisUrl: options['redis-url'],
      keyPrefix: options['key-prefix'],
      clock,
      logger,
      metrics,
    });
    return { queue, consumer: new BullMqWorkQueueConsumer({ queue, logger }) };
  };
}

function createElector(
  options: CompiledReplicaOptions,
  clock: Clock,
  random: RandomSource,
  logger: Logger,
  { meter }: Metrics,
): ReplicaElector {
  const lock = new RedisResourceLock({
    url: options['redis-url'],
    keyPrefix: `${options['key-prefix']}:`,
    name: LEASE,
    // A process that comes back under its old name must not take its former life's lease for its own.
    identity: `${options.identity}_${randomUUID()}`,
    logger,
  });
  return new ReplicaElector(lock, {
    clock,
    random,
    logger,
    metrics: createLeaderElectionMetrics(meter, LEASE),
    options: {
      leaseDurationMs: options['lease-duration-ms'],
      renewDeadlineMs: options['renew-deadline-ms'],
      retryPeriodMs: options['retry-period-ms'],
    },
  });
}
