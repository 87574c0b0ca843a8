import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { DEFAULT_TRIMS, trimsFor } from '@rollkeeper/client/informer';
import { SystemClock } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Deployment, Pod, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { ControllerManager } from '@rollkeeper/runtime';
import { createProblemMetrics, observeProblems } from './app-metrics.js';
import type { FindProblemsOptions } from '../insight/diagnose/index.js';
import {
  PROBLEM_COMPONENT,
  ProblemWatch,
  lookForProblems,
  readReportedProblems,
} from '../insight/problems/index.js';
import { ReplicaBesides } from './besides.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';
import { watchedDeployments } from './watched-deployments.js';

/** Looks for problems where the replica leads, as far as `problems` asks for it. */
@Injectable()
export class ProblemWatching implements OnModuleInit, OnModuleDestroy {
  private readonly stopper = new AbortController();
  private ended: Promise<unknown> = Promise.resolve();

  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(ControllerManager) private readonly manager: ControllerManager,
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(ReplicaTelemetry) private readonly telemetry: ReplicaTelemetry,
    @Inject(ReplicaBesides) private readonly besides: ReplicaBesides,
  ) {}

  onModuleInit(): void {
    const { clock, manager, options } = this;
    const { problems } = options;
    const deploymentTypes = watchedDeployments(options);
    if (problems === 'none' || (problems === 'deployments' && deploymentTypes.length === 0)) return;
    const { meter } = this.telemetry.metrics;
    const { client } = manager;
    const { namespaces } = options.scope;
    const cached = this.cacheOf(problems);
    const look: Omit<FindProblemsOptions, 'nowMs' | 'namespace'> = {
      // A look is repeated before it is believed, later than a controller would see a change.
      areChangesOld: true,
      reader: 'This replica',
      cached,
      deploymentTypes: deploymentTypes.length > 0 ? deploymentTypes : [Deployment],
      ...(problems === 'deployments' ? { kinds: [] } : { ofEveryKind: true, refused: new Map() }),
    };
    const watch = new ProblemWatch({
      look: (signal) =>
        lookForProblems(client, namespaces, {
          ...{ ...look, nowMs: clock.now(), signal },
          beside: () => this.besides.find(signal),
        }),
      // With Deployments alone, no right to list Events is asked for.
      reported: async (signal) =>
        problems === 'all' ? readReportedProblems(client, namespaces, signal) : [],
      events: { record: (about, note) => manager.eventsOf(PROBLEM_COMPONENT).record(about, note) },
      isLeader: () => manager.isLeader && manager.state === 'running',
      consoleUrl: options['console-url'],
      intervalMs: options['problems-interval-ms'],
      ...{ clock, logger: this.telemetry.logger, onLook: createProblemMetrics(meter) },
    });
    observeProblems(meter, () => watch.counts());
    this.ended = watch.run(this.stopper.signal);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopper.abort();
    await this.ended;
  }

  /**
   * The caches that take the place of a list: those that are filled and keep what diagnoses read. Of pods the default cache keeps enough
   * to explain a Deployment, and no more.
   */
  private cacheOf(
    problems: 'deployments' | 'all',
  ): (type: ResourceType) => readonly DeepReadonly<KubernetesObject>[] | undefined {
    const pods = qualifiedResource(Pod);
    const areScantPods = trimsFor(this.options.definitions).get(pods) === DEFAULT_TRIMS.get(pods);
    // With slots they are of the namespaces that this replica holds.
    if (this.options.slots > 0) return () => undefined;
    return (type) => {
      const name = qualifiedResource(type);
      const informer = this.manager.informers.find(name);
      if (!informer?.hasSynced || informer.type.version !== type.version) return undefined;
      return name === pods && problems === 'all' && areScantPods ? undefined : informer.lister.list();
    };
  }
}
