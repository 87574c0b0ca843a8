import { TEMPLATE_HASH_INDEX, templateHashIndex } from '../controllers/replicaset/related-pods.js';
import { ORPHAN_INDEX, orphanIndex } from '@rollkeeper/controllers/shared';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { IndexFunction, Lister } from '@rollkeeper/client/informer/informer';
import { NAMESPACE_INDEX, OWNER_UID_INDEX } from '@rollkeeper/client/informer/informer';
import type { KubernetesObject, ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { compareResourceVersions, keyOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { ClusterEvent, FakeCluster } from './fake-cluster.js';

const INDEXES: Readonly<Record<string, IndexFunction<KubernetesObject>>> = {
  [OWNER_UID_INDEX]: (object) => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid),
  [NAMESPACE_INDEX]: ({ metadata }) => [metadata.namespace ?? ''],
  [ORPHAN_INDEX]: orphanIndex,
  [TEMPLATE_HASH_INDEX]: templateHashIndex as IndexFunction<KubernetesObject>,
};

/** A cache of one type that lags behind a {@link FakeCluster} as far as the test wants. */
export class LaggingCache<T extends KubernetesObject> implements Lister<T> {
  private readonly objects = new Map<string, UnstructuredObject>();
  private readonly behind: ClusterEvent[] = [];
  /** The resourceVersion of the newest event that it shows. */
  resourceVersion: string | undefined;

  constructor(cluster: FakeCluster, type: ResourceType) {
    cluster.onEvent((changed, event) => {
      if (qualifiedResource(changed) === qualifiedResource(type)) this.behind.push(event);
    });
  }

  /** Number of events that it has not shown yet. */
  get lag(): number {
    return this.behind.length;
  }

  /** Shows the next `count` events; all of them by default. */
  catchUp(count = this.behind.length): void {
    for (const event of this.behind.splice(0, count)) this.apply(event);
  }

  /** Shows everything up to this resourceVersion, as for an activation that waits for it. */
  catchUpTo(resourceVersion: string): void {
    const later = this.behind.findIndex(
      ({ object }) =>
        (compareResourceVersions(object.metadata.resourceVersion ?? '', resourceVersion) ?? 1) > 0,
    );
    this.catchUp(later < 0 ? this.behind.length : later);
  }

  get(key: string): ReturnType<Lister<T>['get']> {
    return this.objects.get(key) as ReturnType<Lister<T>['get']>;
  }

  list(): ReturnType<Lister<T>['list']> {
    return [...this.objects.values()] as unknown as ReturnType<Lister<T>['list']>;
  }

  byIndex(name: string, value: string): ReturnType<Lister<T>['list']> {
    const index = INDEXES[name];
    if (!index) throw new IllegalStateError(`no index ${name}`);
    const found = [...this.objects.values()].filter((object) => index(object).includes(value));
    return found as unknown as ReturnType<Lister<T>['list']>;
  }

  private apply(event: ClusterEvent): void {
    const key = keyOf(event.object.metadata);
    this.resourceVersion = event.object.metadata.resourceVersion;
    if (event.type === 'DELETED') this.objects.delete(key);
    else this.objects.set(key, event.object);
  }
}
