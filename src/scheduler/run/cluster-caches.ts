import { NAMESPACE_INDEX, SharedInformer, dropManagedFields } from '@rollkeeper/client/informer';
import type { Informer, ListWatcher, Lister } from '@rollkeeper/client/informer';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type {
  DeepReadonly,
  KubernetesObject,
  ObjectRef,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { Node, Pod, REPLACES_PODS_OF, keyOf, ownField } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ClusterView, ViewedResource } from '../framework/cluster-view.js';

interface ClusterCachesOptions {
  readonly client: ListWatcher;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** The resources that plug-ins read beside pods and nodes, as far as they are served. */
  readonly served: ReadonlyMap<ViewedResource, ResourceType>;
  /** Caches of whole objects that run already, to be shared. @default none */
  readonly given?: { readonly pods: Informer<Pod>; readonly nodes: Informer<Node> };
}

/** The resources of which only the selectors are read, and which pods theirs replace. */
const SELECTING: ReadonlySet<ViewedResource> = new Set<ViewedResource>([
  'services',
  'replicationcontrollers',
  'apps/replicasets',
  'apps/statefulsets',
]);

/** A dead connection of these costs a late retry at worst, and there are many of them. */
const VIEWED_WATCH_SECONDS = 60;

/** The caches of a scheduler: pods, nodes, and what plug-ins read beside them. */
export class ClusterCaches implements ClusterView {
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly viewed: ReadonlyMap<ViewedResource, Informer>;
  private readonly own: readonly Informer[];

  constructor({ given, served, ...shared }: ClusterCachesOptions) {
    const own = { ...shared, trim: dropManagedFields };
    this.pods = given?.pods ?? new SharedInformer<Pod>({ ...own, type: Pod });
    this.nodes = given?.nodes ?? new SharedInformer<Node>({ ...own, type: Node });
    this.viewed = new Map(
      [...served].map(([name, type]) => {
        const trim = SELECTING.has(name) ? trimToSelector : dropManagedFields;
        const watchTimeoutSeconds = VIEWED_WATCH_SECONDS;
        return [name, new SharedInformer<KubernetesObject>({ ...shared, trim, type, watchTimeoutSeconds })];
      }),
    );
    const leading = given ? [] : [this.pods, this.nodes];
    this.own = [...leading, ...this.viewed.values()];
  }

  /** The informers that this scheduler runs itself. */
  get informers(): readonly Informer[] {
    return this.own;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.own.map((informer) => informer.run(signal)));
  }

  /**
   * Resolves once nodes and pods are known, and of everything else either the objects or that there is no list for us.
   * @returns the resources that may not be listed: plug-ins see none of them
   */
  async settle(signal: AbortSignal): Promise<readonly string[]> {
    const needed = [this.pods, this.nodes].map((informer) => informer.waitForSync(signal));
    const others = [...this.viewed.values()].map((informer) => informer.waitUntilSettled(signal));
    await Promise.all([...needed, ...others]);
    return [...this.viewed].filter(([, { hasSynced }]) => !hasSynced).map(([name]) => name);
  }

  get<T extends KubernetesObject>(resource: ViewedResource, ref: ObjectRef): DeepReadonly<T> | undefined {
    return this.listerOf<T>(resource)?.get(keyOf(ref));
  }

  list<T extends KubernetesObject>(resource: ViewedResource, namespace?: string): readonly DeepReadonly<T>[] {
    const lister = this.listerOf<T>(resource);
    const objects = namespace === undefined ? lister?.list() : lister?.byIndex(NAMESPACE_INDEX, namespace);
    return objects ?? [];
  }

  /** As that of the kind that the caller names: what is viewed is found by its resource. */
  private listerOf<T extends KubernetesObject>(resource: ViewedResource): Lister<T> | undefined {
    return this.viewed.get(resource)?.lister as Lister<T> | undefined;
  }
}

function trimToSelector(object: KubernetesObject): KubernetesObject {
  const { apiVersion, kind, metadata } = object;
  const { annotations, labels, name, namespace, ownerReferences, resourceVersion, uid } = metadata;
  const { spec }: typeof object & { spec?: { selector?: unknown } } = object;
  const replaced = ownField(annotations, REPLACES_PODS_OF);
  const kept = {
    ...{ name, namespace, uid, resourceVersion, labels, ownerReferences },
    ...(replaced !== undefined && { annotations: { [REPLACES_PODS_OF]: replaced } }),
  };
  const trimmed = { apiVersion, kind, metadata: kept, spec: { selector: spec?.selector } };
  return trimmed;
}
