import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { SystemClock } from '@rollkeeper/machinery/clock';
import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import { Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { ControllerManager } from '@rollkeeper/runtime';
import {
  createCheckMetrics,
  createRolloutMetrics,
  observeDegraded,
  observeDrifted,
  observeDeployments,
  observeFailingReplicaSets,
  observePolicies,
} from './app-metrics.js';
import {
  countDegraded,
  countDrifted,
  countFailing,
  countPolicyReasons,
  countRolloutHealth,
} from './deployment-states.js';
import { RolloutDurations } from '../insight/durations/rollout-durations.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { Observation } from './observation.service.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';
import { watchedDeployments } from './watched-deployments.js';

/** Times rollouts and counts Deployments by state, if Deployments are processed, and so watched. */
@Injectable()
export class RolloutTiming implements OnModuleInit, OnModuleDestroy {
  private stop: (() => void) | undefined;

  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(ControllerManager) private readonly manager: ControllerManager,
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(ReplicaTelemetry) private readonly telemetry: ReplicaTelemetry,
    @Inject(Observation) private readonly observation: Observation,
  ) {}

  /** Before the application starts: the manager fills the caches requested by then. */
  onModuleInit(): void {
    const { clock, manager } = this;
    const { meter } = this.telemetry.metrics;
    const metrics = this.observation.objectives.noting(createRolloutMetrics(meter));
    this.options.checkResults.listen(createCheckMetrics(meter));
    const types = watchedDeployments(this.options);
    if (types.length === 0) return;
    const { informers } = manager;
    const deployments = types.map((deploymentType) => informers.informerFor<Deployment>(deploymentType));
    const listed = () => deployments.flatMap(({ lister }) => lister.list());
    observeDeployments(meter, () =>
      manager.isLeader ? countRolloutHealth(listed(), clock.now()) : undefined,
    );
    observePolicies(meter, () => (manager.isLeader ? countPolicyReasons(listed()) : undefined));
    observeDegraded(meter, () => (manager.isLeader ? countDegraded(listed()) : undefined));
    observeDrifted(meter, () => (manager.isLeader ? countDrifted(listed()) : undefined));
    const replicaSets = informers.informerFor<ReplicaSet>(ReplicaSet);
    observeFailingReplicaSets(meter, () =>
      manager.isLeader ? countFailing(replicaSets.lister.list()) : undefined,
    );
    const rollouts = new RolloutDurations({ clock, metrics, isLeader: () => manager.isLeader });
    this.stop = rollouts.watch({
      deployments,
      replicaSets,
      pods: informers.informerFor<Pod>(Pod),
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }
}
