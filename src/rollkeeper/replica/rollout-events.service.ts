import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { NAMESPACE_POLICIES, UndiciSender, completed, fileSigner } from '@rollkeeper/controllers/deployment';
import type { Informer } from '@rollkeeper/client/informer';
import { OWNER_UID_INDEX } from '@rollkeeper/client/informer';
import { SystemClock } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, controllerOf, keyOf } from '@rollkeeper/machinery/kubernetes';
import { ControllerManager } from '@rollkeeper/runtime';
import { createRolloutEventMetrics } from './app-metrics.js';
import type { RolloutView } from '@rollkeeper/controllers/deployment';
import { RolloutEvents } from '../insight/events/index.js';
import { KubernetesApi } from './kubernetes-api.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';
import { deploymentDefinition, watchedDeployments } from './watched-deployments.js';

/** Sends CloudEvents of rollouts, if there is a sink, and Deployments are processed, and so watched. */
@Injectable()
export class RolloutEventSending implements OnModuleInit, OnModuleDestroy {
  private readonly stopper = new AbortController();
  private readonly removals: (() => void)[] = [];
  private ended: Promise<unknown> = Promise.resolve();

  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(ControllerManager) private readonly manager: ControllerManager,
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(ReplicaTelemetry) private readonly telemetry: ReplicaTelemetry,
    @Inject(KubernetesApi) private readonly api: KubernetesApi,
  ) {}

  /** Before the application starts: the manager fills the caches requested by then. */
  onModuleInit(): void {
    const { eventSinks } = this.options;
    const onResult = createRolloutEventMetrics(this.telemetry.metrics.meter);
    const definition = deploymentDefinition(this.options);
    if (eventSinks.length === 0 || !definition) return;
    const { informers } = this.manager;
    const watched = watchedDeployments(this.options);
    const deployments = watched.map((deploymentType) => informers.informerFor<Deployment>(deploymentType));
    const replicaSets = informers.informerFor<ReplicaSet>(ReplicaSet);
    const namespaces = informers.partialInformerFor<KubernetesObject>(NAMESPACE_POLICIES);
    const caches = { deployments, replicaSets, namespaces };
    const sender = new UndiciSender(this.clock, () => undefined);
    const events = new RolloutEvents({
      ...{ sinks: eventSinks, sender, clock: this.clock, onResult },
      logger: this.telemetry.logger,
      signer: fileSigner(this.options['cloudevents-signing-key-file'], () => this.clock.now()),
      client: this.api.clients.clientFor(definition),
      keys: () => deployments.flatMap(({ lister }, at) => lister.list().map((each) => refOf(at, each))),
      viewOf: (ref) => this.viewOf(ref, caches),
      isLeader: () => this.manager.isLeader,
    });
    deployments.forEach((informer, at) =>
      this.removals.push(informer.addEventHandler(({ object }) => events.note(refOf(at, object)))),
    );
    this.removals.push(
      replicaSets.addEventHandler(({ object }) => {
        const owner = controllerOf(object);
        if (!owner) return;
        const at = watched.findIndex(
          ({ kind, group, version }) => owner.kind === kind && owner.apiVersion === `${group}/${version}`,
        );
        if (at >= 0)
          events.note(`${at} ${keyOf({ namespace: object.metadata.namespace, name: owner.name })}`);
      }),
    );
    this.ended = events.run(this.stopper.signal).finally(() => sender.close());
  }

  async onModuleDestroy(): Promise<void> {
    for (const remove of this.removals) remove();
    this.stopper.abort();
    await this.ended;
  }

  private viewOf(ref: string, { deployments, namespaces, replicaSets }: Caches): RolloutView | undefined {
    const [at = '', key = ''] = ref.split(' ');
    const cached = deployments[Number(at)]?.lister.get(key);
    if (!cached) return undefined;
    const deployment = completed(cached);
    return {
      deployment,
      replicaSets: replicaSets.lister.byIndex(OWNER_UID_INDEX, deployment.metadata.uid ?? ''),
      pods: [],
      namespaceAnnotations: namespaces.lister.get(deployment.metadata.namespace ?? '')?.metadata.annotations,
      nowMs: this.clock.now(),
    };
  }
}

interface Caches {
  readonly deployments: readonly Informer<Deployment>[];
  readonly replicaSets: Informer<ReplicaSet>;
  readonly namespaces: Pick<Informer<KubernetesObject>, 'lister'>;
}

/** With the API that it is of: two may have Deployments of the same name. */
function refOf(at: number, { metadata }: DeepReadonly<Deployment>): string {
  return `${at} ${keyOf(metadata)}`;
}
