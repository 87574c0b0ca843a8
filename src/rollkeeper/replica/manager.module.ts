import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { PODS, REPLICA_SETS } from '@rollkeeper/machinery/kubernetes';
import { deploymentTypeOf } from '@rollkeeper/controllers/deployment';
import type { ControllerDefinition } from '@rollkeeper/runtime';
import { ControllerManager } from '@rollkeeper/runtime';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { RollkeeperModule } from '@rollkeeper/nest';
import { RolloutDurations } from '../rollout-durations/rollout-durations.js';
import { createRolloutMetrics, observeDeployments } from '../app-metrics.js';
import { countDeploymentStates } from '../deployment-states/deployment-states.js';
import { KubernetesApiModule } from './kubernetes-api.module.js';
import { ObservationModule } from './observation.module.js';
import { ReplicaManagerOptions } from './replica-manager-options.provider.js';
import { ReplicaStatusSource } from '../admin-pages/index.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import * as tokens from './tokens.js';

/** The replica's manager with its controllers, made as anybody makes theirs with the kit, and what it says of itself. */
@Module({})
export class ManagerModule {
  static forRoot(options: CompiledReplicaOptions): DynamicModule {
    const parts = [KubernetesApiModule, ObservationModule];
    const manager = RollkeeperModule.forRootAsync({
      imports: parts,
      useClass: ReplicaManagerOptions,
      // The admin port has these, and they are told where the manager is before it runs.
      probeRoutes: false,
      autoRun: false,
    });
    return {
      module: ManagerModule,
      imports: [...parts, manager, RollkeeperModule.forFeature(tunedControllers(options))],
      providers: [
        {
          // Made for what it does: nobody asks for it.
          provide: RolloutDurations,
          inject: [tokens.OPTIONS, ControllerManager, tokens.CLOCK, tokens.METRICS],
          useFactory: timeRollouts,
        },
        {
          provide: tokens.HEALTH,
          inject: [ControllerManager],
          useFactory: ({ health }: ControllerManager) => health,
        },
        {
          provide: tokens.STATUS,
          inject: [ControllerManager, tokens.CLOCK],
          useFactory: (of: ControllerManager, clock: Clock) => new ReplicaStatusSource(of, clock),
        },
      ],
      exports: [tokens.HEALTH, tokens.STATUS, ...parts],
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

/** Where Deployments are worked on, and so watched. */
function timeRollouts(
  { definitions, deploymentApis }: CompiledReplicaOptions,
  manager: ControllerManager,
  clock: Clock,
  { meter }: Metrics,
): RolloutDurations {
  const metrics = createRolloutMetrics(meter);
  const rollouts = new RolloutDurations({ clock, metrics, isLeader: () => manager.isLeader });
  const { informers } = manager;
  const types = deploymentApis
    .map(deploymentTypeOf)
    .filter((deploymentType) => definitions.some(({ type }) => type === deploymentType));
  if (types.length > 0) {
    const deployments = types.map((deploymentType) => informers.informerFor<Deployment>(deploymentType));
    observeDeployments(meter, () =>
      manager.isLeader
        ? countDeploymentStates(deployments.flatMap(({ lister }) => lister.list()))
        : undefined,
    );
    rollouts.watch({
      deployments,
      replicaSets: informers.informerFor<ReplicaSet>(REPLICA_SETS),
      pods: informers.informerFor<Pod>(PODS),
    });
  }
  return rollouts;
}
