import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { ControllerDefinition } from '@rollkeeper/runtime';
import { RollkeeperModule } from '@rollkeeper/nest';
import { webhookServer } from '@rollkeeper/webhooks';
import { BesidesModule } from './besides.module.js';
import { EvictionWebhook } from './eviction-webhook.service.js';
import { KubernetesApiModule } from './kubernetes-api.module.js';
import { ObservationModule } from './observation.module.js';
import { ReplicaManagerOptions } from './replica-manager-options.provider.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { ProblemWatching } from './problem-watching.service.js';
import { RolloutEventSending } from './rollout-events.service.js';
import { RolloutTiming } from './rollout-timing.service.js';

/** The replica's manager with its controllers, created with the public kit. */
@Module({
  imports: [KubernetesApiModule, ObservationModule, BesidesModule],
  providers: [RolloutTiming, RolloutEventSending, ProblemWatching],
})
export class ManagerModule {
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
