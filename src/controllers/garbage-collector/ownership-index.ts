import type { ResourceEvent } from '@rollkeeper/runtime';
import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource, ownerUids } from '@rollkeeper/machinery/kubernetes';

/** An object with its resource type, which its `kind` alone does not determine. */
export interface GraphNode {
  readonly type: ResourceType;
  readonly object: DeepReadonly<KubernetesObject>;
}

/** The indexed object: the cached object itself, replaced when it changes. */
interface Entry {
  readonly type: ResourceType;
  object: DeepReadonly<KubernetesObject>;
}

/**
 * One index over the objects of all types, by their own UIDs and by those of their owners: with hundreds of types,
 * separate indexes would be too slow. An object served by two groups is indexed once, under the first type; so is a UID
 * claimed by two objects.
 */
export class OwnershipIndex {
  private readonly byUid = new Map<string, Entry>();
  /** Most owners own several objects, many own one: those need no set. */
  private readonly byOwner = new Map<string, Entry | Set<Entry>>();

  get size(): number {
    return this.byUid.size;
  }

  /** Applies an informer's event. */
  apply(type: ResourceType, event: ResourceEvent<KubernetesObject>): void {
    const isReplaced = event.type === 'modified' && event.old.metadata.uid !== event.object.metadata.uid;
    if (isReplaced) this.remove(type, event.old);
    if (event.type === 'deleted') this.remove(type, event.object);
    else this.put(type, event.object);
  }

  /** Removes an object that is cached no longer, without saying that it was deleted. */
  forget(type: ResourceType, object: DeepReadonly<KubernetesObject>): void {
    this.remove(type, object);
  }

  /** Removes all objects of a type. Iterates over all objects. */
  removeType(type: ResourceType): GraphNode[] {
    const gone = [...this.byUid.values()].filter((entry) => isSame(entry.type, type));
    for (const { object } of gone) this.remove(type, object);
    return gone;
  }

  clear(): void {
    this.byUid.clear();
    this.byOwner.clear();
  }

  nodes(): Iterable<GraphNode> {
    return this.byUid.values();
  }

  find(uid: string): GraphNode | undefined {
    return this.byUid.get(uid);
  }

  /** The objects that currently name `uid` among their owners. */
  dependentsOf(uid: string): GraphNode[] {
    const found = this.byOwner.get(uid);
    if (found === undefined) return [];
    return [...(found instanceof Set ? found : [found])].map(({ object, type }) => ({ object, type }));
  }

  private put(type: ResourceType, object: DeepReadonly<KubernetesObject>): void {
    const { uid } = object.metadata;
    if (uid === undefined) return;
    const known = this.byUid.get(uid);
    if (known && (!isSame(known.type, type) || isElsewhere(known.object, object))) return;
    // There may be thousands.
    const before = new Set(known ? ownerUids(known.object) : []);
    const after = new Set(ownerUids(object));
    const entry: Entry = known ?? { type, object };
    entry.object = object;
    if (!known) this.byUid.set(uid, entry);
    for (const owner of before) if (!after.has(owner)) this.unlink(owner, entry);
    for (const owner of after) if (!before.has(owner)) this.link(owner, entry);
  }

  private remove(type: ResourceType, object: DeepReadonly<KubernetesObject>): void {
    const { uid = '' } = object.metadata;
    const entry = this.byUid.get(uid);
    if (!entry || !isSame(entry.type, type) || isElsewhere(entry.object, object)) return;
    this.byUid.delete(uid);
    // Unlink its indexed owners, which the last state need not name any more.
    for (const owner of ownerUids(entry.object)) this.unlink(owner, entry);
  }

  private link(owner: string, entry: Entry): void {
    const known = this.byOwner.get(owner);
    if (known === undefined) this.byOwner.set(owner, entry);
    else if (known instanceof Set) known.add(entry);
    else if (known !== entry) this.byOwner.set(owner, new Set([known, entry]));
  }

  private unlink(owner: string, entry: Entry): void {
    const known = this.byOwner.get(owner);
    if (known === entry) this.byOwner.delete(owner);
    if (!(known instanceof Set)) return;
    known.delete(entry);
    if (known.size === 0) this.byOwner.delete(owner);
  }
}

/** Whether it is another object with the same UID. */
function isElsewhere(a: DeepReadonly<KubernetesObject>, b: DeepReadonly<KubernetesObject>): boolean {
  return a.metadata.name !== b.metadata.name || a.metadata.namespace !== b.metadata.namespace;
}

function isSame(a: ResourceType, b: ResourceType): boolean {
  return a === b || qualifiedResource(a) === qualifiedResource(b);
}
