import type { Clock } from '@rollkeeper/machinery/clock';
import { compareResourceVersions, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView, ViewedResource } from '../framework/cluster-view.js';

type Objects = Map<string, DeepReadonly<KubernetesObject>>;

/** An object that is about to be created. */
export interface ExpectedObject {
  /** It has been, and is so now. Lists show it until the cache does. */
  created(object: DeepReadonly<KubernetesObject>): void;
  /** It will not be. */
  forget(): void;
}

interface Expected {
  object: DeepReadonly<KubernetesObject>;
  /** When to stop waiting for the cache, by the monotonic clock. */
  untilMs: number;
}

/** An object that the cache has not shown by then was deleted before it could. */
const SHOWN_WITHIN_MS = 120_000;
/** With fewer assumed objects there is no need to look for those that are shown. */
const FEWEST_SWEPT = 64;

/**
 * A view in which objects are as decisions have taken them to become, until the cache shows a later state: a volume that a pod is about
 * to get is taken for the next pod.
 */
export class AssumedObjects implements ClusterView {
  private readonly assumed = new Map<ViewedResource, Objects>();
  private readonly expected = new Map<ViewedResource, Set<Expected>>();
  private sweepAbove = FEWEST_SWEPT;

  constructor(
    private readonly seen: ClusterView,
    private readonly clock: Pick<Clock, 'monotonicNow'>,
  ) {}

  /** Lists show the object from now on, though nothing has created it yet. */
  expect(resource: ViewedResource, object: DeepReadonly<KubernetesObject>): ExpectedObject {
    const all = this.expected.get(resource) ?? new Set<Expected>();
    this.expected.set(resource, all);
    const entry: Expected = { object, untilMs: Infinity };
    all.add(entry);
    return {
      created: (now) => {
        entry.object = now;
        entry.untilMs = this.clock.monotonicNow() + SHOWN_WITHIN_MS;
      },
      forget: () => void all.delete(entry),
    };
  }

  /** The object is taken to be so from now on. It has the resourceVersion of the state that it was made from. */
  assume(resource: ViewedResource, object: DeepReadonly<KubernetesObject>): void {
    const objects: Objects = this.assumed.get(resource) ?? new Map<string, DeepReadonly<KubernetesObject>>();
    objects.set(keyOf(object.metadata), object);
    this.assumed.set(resource, objects);
    if (objects.size > this.sweepAbove) this.sweep();
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
    const known = this.assumed.get(resource)?.size
      ? objects.map((object) => this.newest<T>(resource, keyOf(object.metadata), object) ?? object)
      : objects;
    const expected = this.expected.get(resource);
    if (!expected?.size) return known;
    return [...known, ...(this.notShown(resource, expected, namespace) as DeepReadonly<T>[])];
  }

  /** How many states are assumed. */
  get size(): number {
    return [...this.assumed.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** An assumed object that nothing asks for any more would stay after it was shown, or deleted. */
  private sweep(): void {
    for (const [resource, objects] of this.assumed)
      for (const [key, { metadata }] of objects)
        this.newest(resource, key, this.seen.get(resource, metadata));
    this.sweepAbove = Math.max(FEWEST_SWEPT, 2 * this.size);
  }

  private notShown(
    resource: ViewedResource,
    expected: Set<Expected>,
    namespace: string | undefined,
  ): DeepReadonly<KubernetesObject>[] {
    for (const entry of expected)
      if (this.clock.monotonicNow() > entry.untilMs || this.isShown(resource, entry.object))
        expected.delete(entry);
    return [...expected]
      .map(({ object }) => object)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  }

  private isShown(resource: ViewedResource, object: DeepReadonly<KubernetesObject>): boolean {
    const { resourceVersion, uid } = object.metadata;
    const seen = uid === undefined ? undefined : this.seen.get(resource, object.metadata);
    if (seen?.metadata.uid !== uid || !seen) return false;
    return seen.metadata.resourceVersion === resourceVersion || isLater(seen, object);
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
