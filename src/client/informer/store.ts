import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { compareResourceVersions, keyOf, readOnly } from '@rollkeeper/machinery/kubernetes';
import type { IndexFunction, Lister, ResourceEvent } from './informer.js';

/**
 * One index: values to the keys of the objects that have them. Updated incrementally, never rebuilt. A value with a
 * single object, the usual case, needs no set.
 */
class IndexMap<T> {
  private readonly keysByValue = new Map<string, string | Set<string>>();

  constructor(private readonly valuesOf: IndexFunction<T>) {}

  /** Replaces `old` by `now` for `key`; either may be absent. */
  update(key: string, old: DeepReadonly<T> | undefined, now: DeepReadonly<T> | undefined): void {
    const before = old === undefined ? [] : this.valuesOf(old);
    const after = now === undefined ? [] : this.valuesOf(now);
    for (const value of before) if (!after.includes(value)) this.remove(value, key);
    for (const value of after) if (!before.includes(value)) this.add(value, key);
  }

  keys(value: string): Iterable<string> {
    const keys = this.keysByValue.get(value) ?? [];
    return typeof keys === 'string' ? [keys] : keys;
  }

  private add(value: string, key: string): void {
    const keys = this.keysByValue.get(value);
    if (keys === undefined) this.keysByValue.set(value, key);
    else if (typeof keys !== 'string') keys.add(key);
    else if (keys !== key) this.keysByValue.set(value, new Set([keys, key]));
  }

  private remove(value: string, key: string): void {
    const keys = this.keysByValue.get(value);
    // Remove the value, or empty sets of deleted owners would accumulate.
    if (keys === key) this.keysByValue.delete(value);
    if (keys === undefined || typeof keys === 'string') return;
    keys.delete(key);
    const [first] = keys;
    if (keys.size === 1 && first !== undefined) this.keysByValue.set(value, first);
  }
}

/**
 * The cache behind a lister. Each writing method applies its changes in one synchronous step and returns the
 * differences as events: readers never see half a change.
 *
 * Invariant: per key the states only move forward, except in {@link ObjectStore.replace}, whose list is authoritative.
 */
export class ObjectStore<T extends KubernetesObject> {
  private readonly objects = new Map<string, DeepReadonly<T>>();
  private readonly indexes = new Map<string, IndexMap<T>>();

  /** The read-only view of the store. */
  readonly lister: Lister<T> = {
    get: (key) => this.objects.get(key),
    list: () => [...this.objects.values()],
    byIndex: (index, value) => this.byIndex(index, value),
  };

  get size(): number {
    return this.objects.size;
  }

  /** @throws IllegalStateError for a name that is taken */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.indexes.has(name)) throw new IllegalStateError(`the index ${name} exists already`);
    const index = new IndexMap(valuesOf);
    for (const [key, object] of this.objects) index.update(key, undefined, object);
    this.indexes.set(name, index);
  }

  /**
   * Applies a list. `initial` marks its additions. Deletions come first.
   * @param isListed whether an object would have been in the list. @default all would
   */
  replace(
    items: readonly T[],
    initial: boolean,
    isListed: (object: DeepReadonly<T>) => boolean = () => true,
  ): ResourceEvent<T>[] {
    const fresh = newestByKey(items);
    const events: ResourceEvent<T>[] = [];
    for (const [key, old] of this.objects) {
      if (!fresh.has(key) && isListed(old)) events.push(this.drop(key, old));
    }
    for (const [key, object] of fresh) {
      const old = this.objects.get(key);
      // The same state: keep the object that readers may already hold.
      if (old && sameState(old, object)) continue;
      events.push(...this.put(key, old, object, initial));
    }
    return events;
  }

  /** An object was added or modified. No-op if the cache shows this state or a later one. */
  upsert(item: T): ResourceEvent<T>[] {
    const object = readOnly(item);
    const key = keyOf(object.metadata);
    const old = this.objects.get(key);
    if (old && isSameOrOlder(object, old)) return [];
    return this.put(key, old, object, false);
  }

  /** An object was deleted; `item` is its last state. Ignored if the cache shows something later. */
  remove(item: T): ResourceEvent<T>[] {
    const object = readOnly(item);
    const key = keyOf(object.metadata);
    const old = this.objects.get(key);
    if (!old || compareAge(object, old) === 'older') return [];
    // The cached object was deleted and recreated unseen, and now the new one is deleted: report the end of the old
    // one.
    if (old.metadata.uid !== object.metadata.uid) return [this.drop(key, old)];
    this.set(key, old, undefined);
    return [{ type: 'deleted', object, old, finalStateUnknown: false }];
  }

  /** Drops objects of which nothing more will be heard. */
  forget(isForgotten: (object: DeepReadonly<T>) => boolean): readonly DeepReadonly<T>[] {
    const forgotten = [...this.objects].filter(([, object]) => isForgotten(object));
    for (const [key, old] of forgotten) this.set(key, old, undefined);
    return forgotten.map(([, object]) => object);
  }

  private put(
    key: string,
    old: DeepReadonly<T> | undefined,
    object: DeepReadonly<T>,
    initial: boolean,
  ): ResourceEvent<T>[] {
    this.set(key, old, object);
    if (!old) return [{ type: 'added', object, initial }];
    if (old.metadata.uid === object.metadata.uid) return [{ type: 'modified', object, old }];
    // Another object of the same name: report both, so that handlers need not compare UIDs.
    return [
      { type: 'deleted', object: old, finalStateUnknown: true },
      { type: 'added', object, initial },
    ];
  }

  private drop(key: string, old: DeepReadonly<T>): ResourceEvent<T> {
    this.set(key, old, undefined);
    return { type: 'deleted', object: old, finalStateUnknown: true };
  }

  private set(key: string, old: DeepReadonly<T> | undefined, now: DeepReadonly<T> | undefined): void {
    if (now === undefined) this.objects.delete(key);
    else this.objects.set(key, now);
    for (const index of this.indexes.values()) index.update(key, old, now);
  }

  private byIndex(name: string, value: string): readonly DeepReadonly<T>[] {
    const index = this.indexes.get(name);
    if (!index) throw new IllegalStateError(`there is no index ${name}`);
    const found: DeepReadonly<T>[] = [];
    for (const key of index.keys(value)) {
      const object = this.objects.get(key);
      if (object) found.push(object);
    }
    return found;
  }
}

/** After the snapshot of a paged list expires, an object can appear twice: the newer state counts. */
function newestByKey<T extends KubernetesObject>(items: readonly T[]): Map<string, DeepReadonly<T>> {
  const fresh = new Map<string, DeepReadonly<T>>();
  for (const item of items) {
    const object = readOnly(item);
    const key = keyOf(object.metadata);
    const other = fresh.get(key);
    if (!other || !isSameOrOlder(object, other)) fresh.set(key, object);
  }
  return fresh;
}

type WithMetadata = DeepReadonly<Pick<KubernetesObject, 'metadata'>>;

function sameState(a: WithMetadata, b: WithMetadata): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.metadata.resourceVersion !== undefined &&
    a.metadata.resourceVersion === b.metadata.resourceVersion
  );
}

function isSameOrOlder(a: WithMetadata, b: WithMetadata): boolean {
  return compareAge(a, b) !== 'newer';
}

/**
 * How `a` relates to `b`, which was seen before it. An incomparable version counts as newer, because a watch reports
 * the changes of an object in order. So does an object without a resourceVersion.
 */
function compareAge(a: WithMetadata, b: WithMetadata): 'older' | 'same' | 'newer' {
  const [versionOfA, versionOfB] = [a.metadata.resourceVersion, b.metadata.resourceVersion];
  if (versionOfA === undefined || versionOfB === undefined) return 'newer';
  const order = compareResourceVersions(versionOfA, versionOfB) ?? 1;
  return order === 0 ? 'same' : order < 0 ? 'older' : 'newer';
}
