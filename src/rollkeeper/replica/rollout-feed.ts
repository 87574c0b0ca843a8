import type { Informer } from '@rollkeeper/client/informer';
import { controlledBy } from '@rollkeeper/client/informer';
import type { RolloutView } from '@rollkeeper/controllers/deployment';
import { NAMESPACE_POLICIES, completed } from '@rollkeeper/controllers/deployment';
import type { DeepReadonly, Deployment, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, controllerOf, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { ControllerManager } from '@rollkeeper/runtime';
import type { CompiledReplicaOptions } from './replica.options.js';
import { watchedDeployments } from './watched-deployments.js';

type Annotations = Readonly<Record<string, string>>;

/**
 * The rollouts of all Deployments that this replica processes, by keys of its own: for what watches rollouts beside the controllers.
 * To be made before the manager runs, because it fills the caches requested by then.
 */
export class RolloutFeed {
  private readonly deployments: readonly Informer<Deployment>[];
  private readonly replicaSets: Informer<ReplicaSet>;
  private readonly namespaces: Pick<Informer<KubernetesObject>, 'lister'>;

  constructor(
    { informers }: Pick<ControllerManager, 'informers'>,
    private readonly options: Pick<CompiledReplicaOptions, 'definitions' | 'deploymentApis'>,
    private readonly nowMs: () => number,
  ) {
    const watched = watchedDeployments(options);
    this.deployments = watched.map((deploymentType) => informers.informerFor<Deployment>(deploymentType));
    this.replicaSets = informers.informerFor<ReplicaSet>(ReplicaSet);
    this.namespaces = informers.partialInformerFor<KubernetesObject>(NAMESPACE_POLICIES);
  }

  keys(): readonly string[] {
    return this.deployments.flatMap(({ lister }, at) => lister.list().map((each) => refOf(at, each)));
  }

  /** The view of one; undefined if it no longer exists. */
  viewOf(ref: string): RolloutView | undefined {
    const cached = this.cachedOf(ref);
    if (!cached) return undefined;
    const deployment = completed(cached);
    const { namespace = '' } = deployment.metadata;
    return {
      deployment,
      replicaSets: controlledBy(this.replicaSets.lister, deployment),
      pods: [],
      namespaceAnnotations: this.namespaces.lister.get(namespace)?.metadata.annotations,
      nowMs: this.nowMs(),
    };
  }

  /** The annotations of a Deployment, and those of its Namespace. */
  annotationsOf(ref: string): { readonly own?: Annotations; readonly namespace?: Annotations } {
    const { annotations: own, namespace = '' } = this.cachedOf(ref)?.metadata ?? {};
    const { annotations } = this.namespaces.lister.get(namespace)?.metadata ?? {};
    return { ...(own && { own }), ...(annotations && { namespace: annotations }) };
  }

  /** Calls for each change of a Deployment or of a ReplicaSet of one. @returns ends that */
  onChange(note: (ref: string) => void): () => void {
    const watched = watchedDeployments(this.options);
    const removals = this.deployments.map((informer, at) =>
      informer.addEventHandler(({ object }) => note(refOf(at, object))),
    );
    const ofReplicaSets = this.replicaSets.addEventHandler(({ object }) => {
      const owner = controllerOf(object);
      if (!owner) return;
      const at = watched.findIndex(
        ({ kind, group, version }) => owner.kind === kind && owner.apiVersion === `${group}/${version}`,
      );
      if (at >= 0) note(`${at} ${keyOf({ namespace: object.metadata.namespace, name: owner.name })}`);
    });
    return () => [...removals, ofReplicaSets].forEach((remove) => remove());
  }

  private cachedOf(ref: string): DeepReadonly<Deployment> | undefined {
    const [at = '', key = ''] = ref.split(' ');
    return this.deployments[Number(at)]?.lister.get(key);
  }
}

/** Names the API as well, because Deployments of two APIs may have the same name. */
function refOf(at: number, { metadata }: DeepReadonly<Deployment>): string {
  return `${at} ${keyOf(metadata)}`;
}
