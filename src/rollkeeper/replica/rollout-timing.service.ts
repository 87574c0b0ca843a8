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

interface Placed {
  readonly metadata: { readonly namespace?: string | undefined };
}

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
    const tellsOf = (namespace: string | undefined): boolean => manager.tellsOf(namespace);
    const told = <T extends Placed>(objects: readonly T[]): readonly T[] =>
      this.options.slots === 0 ? objects : objects.filter(({ metadata }) => tellsOf(metadata.namespace));
    /** With slots each replica counts what it works on; otherwise the leader counts everything. */
    const counted =
      <Count>(count: () => Count): (() => Count | undefined) =>
      () =>
        this.options.slots > 0 || manager.isLeader ? count() : undefined;
    const listed = () => told(deployments.flatMap(({ lister }) => lister.list()));
    observeDeployments(
      meter,
      counted(() => countRolloutHealth(listed(), clock.now())),
    );
    observePolicies(
      meter,
      counted(() => countPolicyReasons(listed())),
    );
    observeDegraded(
      meter,
      counted(() => countDegraded(listed())),
    );
    observeDrifted(
      meter,
      counted(() => countDrifted(listed())),
    );
    const replicaSets = informers.informerFor<ReplicaSet>(ReplicaSet);
    observeFailingReplicaSets(
      meter,
      counted(() => countFailing(told(replicaSets.lister.list()))),
    );
    const rollouts = new RolloutDurations({ clock, metrics, tellsOf });
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
