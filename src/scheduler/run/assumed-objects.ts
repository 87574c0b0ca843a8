import { compareResourceVersions, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView, ViewedResource } from '../framework/cluster-view.js';

type Objects = Map<string, DeepReadonly<KubernetesObject>>;

/**
 * A view in which objects are as decisions have taken them to become, until the cache shows a later state: a volume that a pod is about
 * to get is taken for the next pod.
 */
export class AssumedObjects implements ClusterView {
  private readonly assumed = new Map<ViewedResource, Objects>();

  constructor(private readonly seen: ClusterView) {}

  /** The object is taken to be so from now on. It has the resourceVersion of the state that it was made from. */
  assume(resource: ViewedResource, object: DeepReadonly<KubernetesObject>): void {
    const objects = this.assumed.get(resource) ?? (new Map() as Objects);
    objects.set(keyOf(object.metadata), object);
    this.assumed.set(resource, objects);
  }

  /** The object is as the cache shows it. */
  restore(resource: ViewedResource, ref: ObjectRef): void {
    this.assumed.get(resource)?.delete(keyOf(ref));
  }

  get<T extends KubernetesObject>(resource: ViewedResource, ref: ObjectRef): DeepReadonly<T> | undefined {
    return this.newest(resource, keyOf(ref), this.seen.get<T>(resource, ref));
  }

  list<T extends KubernetesObject>(resource: ViewedResource, namespace?: string): readonly DeepReadonly<T>[] {
    const objects = this.seen.list<T>(resource, namespace);
    if (!this.assumed.get(resource)?.size) return objects;
    return objects.map((object) => this.newest<T>(resource, keyOf(object.metadata), object) ?? object);
  }

  private newest<T extends KubernetesObject>(
    resource: ViewedResource,
    key: string,
    seen: DeepReadonly<T> | undefined,
  ): DeepReadonly<T> | undefined {
    const objects = this.assumed.get(resource);
    const assumed = objects?.get(key) as DeepReadonly<T> | undefined;
    if (!assumed) return seen;
    if (seen && seen.metadata.uid === assumed.metadata.uid && !isLater(seen, assumed)) return assumed;
    objects?.delete(key);
    return seen;
  }
}

function isLater(one: DeepReadonly<KubernetesObject>, other: DeepReadonly<KubernetesObject>): boolean {
  const order = compareResourceVersions(
    one.metadata.resourceVersion ?? '',
    other.metadata.resourceVersion ?? '',
  );
  // Versions that have no order: what the cache shows counts, unless it is the very state that was assumed from.
  return order === undefined ? one.metadata.resourceVersion !== other.metadata.resourceVersion : order > 0;
}
