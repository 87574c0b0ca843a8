import type { DynamicModule } from '@nestjs/common';
import { Module, Global } from '@nestjs/common';
import { AdminModule } from '../admin/server/index.js';
import { ReplicaAdminOptions } from './replica-admin-options.provider.js';
import { ReplicaOptionsModule, REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaRunner } from './replica-runner.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { ReplicaTelemetry } from './replica-telemetry.service.js';
import type { ControllerDefinition } from '@rollkeeper/runtime';
import { RollkeeperModule } from '@rollkeeper/nest';
import { webhookServer } from '@rollkeeper/webhooks';
import { EvictionWebhook } from './eviction-webhook.service.js';
import { ReplicaManagerOptions } from './replica-manager-options.provider.js';
import { ProblemWatching } from './problem-watching.service.js';
import { RolloutEventSending } from './rollout-listener.service.js';
import { RolloutNotifications } from './rollout-listener.service.js';
import { RolloutTiming } from './rollout-timing.service.js';
import { ReplicaBesides } from './besides.service.js';
import { AdminCredentials } from './admin-credentials.js';
import { Observation } from './observation.service.js';
import { KubernetesApi } from './kubernetes-api.service.js';

@Module({
  providers: [
    {
      provide: KubernetesApi,
      inject: [REPLICA_OPTIONS, ReplicaTelemetry, SystemClock, SystemRandom],
      useFactory: KubernetesApi.load,
    },
  ],
  exports: [KubernetesApi],
})
class KubernetesApiModule {}

/** The content of the admin pages beyond the manager, and access to them. */
@Module({
  providers: [
    Observation,
    {
      provide: AdminCredentials,
      inject: [REPLICA_OPTIONS, ReplicaTelemetry, SystemClock],
      useFactory: AdminCredentials.load,
    },
  ],
  exports: [Observation, AdminCredentials],
})
class ObservationModule {}

/** Problems beside the objects of the cluster. */
@Module({
  imports: [KubernetesApiModule, ObservationModule],
  providers: [ReplicaBesides],
  exports: [ReplicaBesides],
})
class BesidesModule {}

/** The replica's manager with its controllers, created with the public kit. */
@Module({
  imports: [KubernetesApiModule, ObservationModule, BesidesModule],
  providers: [RolloutTiming, RolloutEventSending, RolloutNotifications, ProblemWatching],
})
class ManagerModule {
  static forRoot(options: CompiledReplicaOptions): DynamicModule {
    const { evictionWebhook } = options;
    return {
      module: ManagerModule,
      imports: [
        RollkeeperModule.forRootAsync({
          imports: [KubernetesApiModule, ObservationModule],
          useClass: ReplicaManagerOptions,
          // The admin port serves these, before the manager runs.
          probeRoutes: false,
          autoRun: false,
          ...(evictionWebhook && { webhooks: webhookServer(evictionWebhook) }),
        }),
        RollkeeperModule.forFeature(tunedControllers(options)),
        ...(evictionWebhook ? [RollkeeperModule.forFeature([EvictionWebhook], [KubernetesApiModule])] : []),
      ],
    };
  }
}

function tunedControllers({
  definitions,
  syncTimeoutMsOf,
  workersOf,
}: CompiledReplicaOptions): ControllerDefinition[] {
  return definitions.map((definition) => ({
    ...definition,
    defaultWorkers: workersOf.get(definition.name) ?? definition.defaultWorkers,
    syncTimeoutMs: syncTimeoutMsOf.get(definition.name),
  }));
}

/** The services that every part uses: time, randomness, log, metrics, spans. */
@Global()
@Module({
  providers: [
    SystemClock,
    SystemRandom,
    { provide: ReplicaTelemetry, inject: [REPLICA_OPTIONS], useFactory: ReplicaTelemetry.start },
  ],
  exports: [SystemClock, SystemRandom, ReplicaTelemetry],
})
class TelemetryModule {}

/** One assembled replica of the controller manager; nothing runs before its {@link ReplicaRunner} does. */
@Module({ providers: [ReplicaRunner] })
export class ReplicaModule {
  static forRoot(options: CompiledReplicaOptions): DynamicModule {
    return {
      module: ReplicaModule,
      imports: [
        ReplicaOptionsModule.forRoot(options),
        TelemetryModule,
        ObservationModule,
        ManagerModule.forRoot(options),
        AdminModule.forRootAsync({
          imports: [KubernetesApiModule, ObservationModule, BesidesModule],
          useClass: ReplicaAdminOptions,
        }),
      ],
    };
  }
}
