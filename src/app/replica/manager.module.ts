import { Module } from '@nestjs/common';
import type { Clock } from '../../base/clock/index.js';
import type { Deployment } from '../../base/kubernetes/index.js';
import { DEPLOYMENTS } from '../../base/kubernetes/index.js';
import type { ControllerManager } from '../../kit/index.js';
import type { Metrics } from '../../kit/telemetry/index.js';
import { RolloutDurations } from '../rollout-durations/index.js';
import { createRolloutMetrics } from '../telemetry/index.js';
import { KubernetesApiModule } from './kubernetes-api.module.js';
import { ObservationModule } from './observation.module.js';
import { ReplicaManagerFactory, managerProvider } from './replica-manager.provider.js';
import { ReplicaStatusSource } from './replica-status.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import * as tokens from './tokens.js';

/** The replica's life: the manager, and what it says of itself. */
@Module({
  imports: [KubernetesApiModule, ObservationModule],
  providers: [
    ReplicaManagerFactory,
    managerProvider,
    {
      // Made for what it does: nobody asks for it.
      provide: RolloutDurations,
      inject: [tokens.OPTIONS, tokens.MANAGER, tokens.CLOCK, tokens.METRICS],
      useFactory: timeRollouts,
    },
    {
      provide: tokens.HEALTH,
      inject: [tokens.MANAGER],
      useFactory: ({ health }: ControllerManager) => health,
    },
    {
      provide: tokens.STATUS,
      inject: [tokens.OPTIONS, tokens.MANAGER],
      useFactory: (options: CompiledReplicaOptions, manager: ControllerManager) =>
        new ReplicaStatusSource(manager, options['reconcile-on']),
    },
  ],
  exports: [tokens.MANAGER, tokens.HEALTH, tokens.STATUS, KubernetesApiModule, ObservationModule],
})
export class ManagerModule {}

/** Where Deployments are worked on, and so watched. */
function timeRollouts(
  { definitions }: CompiledReplicaOptions,
  manager: ControllerManager,
  clock: Clock,
  { meter }: Metrics,
): RolloutDurations {
  const metrics = createRolloutMetrics(meter);
  const rollouts = new RolloutDurations({ clock, metrics, isLeader: () => manager.isLeader });
  if (definitions.some(({ type }) => type === DEPLOYMENTS)) {
    rollouts.watch(manager.informers.informerFor<Deployment>(DEPLOYMENTS));
  }
  return rollouts;
}
