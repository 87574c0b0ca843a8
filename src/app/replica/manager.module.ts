import { Module } from '@nestjs/common';
import type { RedisActorRuntime } from '../../kit/actor/index.js';
import type { HttpApiClient } from '../../kit/api-client/index.js';
import type { Clock } from '../../base/clock/index.js';
import type { ApiEventRecorder } from '../../kit/events/index.js';
import { EventLoopMonitor, HealthRegistry } from '../../kit/health/index.js';
import type { InformerFactory } from '../../kit/informer/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { ManagedController } from '../../kit/manager/index.js';
import { Manager } from '../../kit/manager/index.js';
import type { Deployment } from '../../base/kubernetes/index.js';
import { DEPLOYMENTS } from '../../base/kubernetes/index.js';
import { RolloutDurations } from '../rollout-durations/index.js';
import type { Metrics, Tracing } from '../../kit/telemetry/index.js';
import { createRolloutMetrics } from '../telemetry/index.js';
import type { ServedCertificate } from '../../base/tls/index.js';
import { ControllersModule } from './controllers.module.js';
import { registerHealthChecks } from './health-checks.js';
import type { RedisPeerRegistry } from './redis-peer-registry.js';
import type { ReplicaElector } from './replica-elector.js';
import { ReplicaStatusSource } from './replica-status.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import * as tokens from './tokens.js';

/** The replica's life: the manager, and what it says of itself. */
@Module({
  imports: [ControllersModule],
  providers: [
    {
      provide: tokens.EVENT_LOOP,
      inject: [tokens.CLOCK],
      useFactory: (clock: Clock) => new EventLoopMonitor(clock),
    },
    {
      provide: tokens.MANAGER,
      inject: [
        tokens.OPTIONS,
        tokens.INFORMERS,
        tokens.ELECTOR,
        tokens.CONTROLLERS,
        tokens.ACTORS,
        tokens.EVENTS,
        tokens.EVENT_LOOP,
        tokens.PEERS,
        tokens.ADMIN_CERTIFICATE,
        tokens.CLOCK,
        tokens.LOGGER,
        tokens.TRACING,
      ],
      useFactory: (
        options: CompiledReplicaOptions,
        informers: InformerFactory,
        elector: ReplicaElector,
        controllers: ManagedController[],
        actors: RedisActorRuntime,
        events: ApiEventRecorder,
        eventLoop: EventLoopMonitor,
        peers: RedisPeerRegistry,
        certificate: ServedCertificate | null,
        clock: Clock,
        logger: Logger,
        { tracer }: Tracing,
      ) =>
        new Manager({
          informers,
          elector,
          controllers,
          actors,
          background: [events, eventLoop, peers, ...(certificate ? [certificate] : [])],
          reconcileOn: options['reconcile-on'],
          clock,
          logger,
          tracer,
        }),
    },
    {
      // Made for what it does: nobody asks for it.
      provide: RolloutDurations,
      inject: [tokens.OPTIONS, tokens.INFORMERS, tokens.ELECTOR, tokens.CLOCK, tokens.METRICS],
      useFactory: timeRollouts,
    },
    {
      provide: tokens.HEALTH,
      inject: [
        tokens.OPTIONS,
        tokens.MANAGER,
        tokens.INFORMERS,
        tokens.ELECTOR,
        tokens.CONTROLLERS,
        tokens.API_CLIENT,
        tokens.ACTORS,
        tokens.EVENT_LOOP,
      ],
      useFactory: (
        options: CompiledReplicaOptions,
        manager: Manager,
        informers: InformerFactory,
        elector: ReplicaElector,
        controllers: ManagedController[],
        client: HttpApiClient,
        actors: RedisActorRuntime,
        eventLoop: EventLoopMonitor,
      ) => {
        const registry = new HealthRegistry();
        registerHealthChecks(registry, {
          manager,
          informers,
          elector,
          controllers,
          client,
          actors,
          eventLoop,
          reconcileOn: options['reconcile-on'],
        });
        return registry;
      },
    },
    {
      provide: tokens.STATUS,
      inject: [tokens.OPTIONS, tokens.ELECTOR, tokens.CONTROLLERS, tokens.INFORMERS],
      useFactory: (
        options: CompiledReplicaOptions,
        elector: ReplicaElector,
        controllers: ManagedController[],
        informers: InformerFactory,
      ) =>
        new ReplicaStatusSource(options.identity, elector, controllers, informers, options['reconcile-on']),
    },
  ],
  exports: [tokens.MANAGER, tokens.HEALTH, tokens.STATUS, ControllersModule],
})
export class ManagerModule {}

/** Where Deployments are worked on, and so watched. */
function timeRollouts(
  { definitions }: CompiledReplicaOptions,
  informers: InformerFactory,
  elector: ReplicaElector,
  clock: Clock,
  { meter }: Metrics,
): RolloutDurations {
  const metrics = createRolloutMetrics(meter);
  const rollouts = new RolloutDurations({ clock, metrics, isLeader: () => elector.isLeader });
  if (definitions.some(({ type }) => type === DEPLOYMENTS)) {
    rollouts.watch(informers.informerFor<Deployment>(DEPLOYMENTS));
  }
  return rollouts;
}
