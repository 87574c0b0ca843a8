import type { Informer, ResourceEvent } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  KubernetesObject,
  ObjectRef,
  OwnerReference,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { keyOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { GraphNode } from './ownership-index.js';
import { OwnershipIndex } from './ownership-index.js';

type GraphEventHandler = (type: ResourceType, event: ResourceEvent<KubernetesObject>) => void;

interface Followed {
  readonly informer: Informer;
  readonly unsubscribe: () => void;
}

/**
 * The ownership graph over all watched types: reads their informers, with one index over all of them, so that no object
 * is stored twice. Types can be added and removed at run time.
 */
export class DependencyGraph {
  private readonly followed = new Map<string, Followed>();
  private readonly followedTypes = new Map<string, ResourceType>();
  private readonly byKind = new Map<string, ResourceType>();
  private readonly index = new OwnershipIndex();
  private readonly handlers = new Set<GraphEventHandler>();
  private readonly forgottenHandlers = new Set<(node: GraphNode) => void>();
  private readonly listedHandlers = new Set<(types: readonly ResourceType[]) => void>();

  /** The watched types, by `resource.group`. */
  get types(): ReadonlyMap<string, ResourceType> {
    return this.followedTypes;
  }

  /** Number of cached objects. */
  get size(): number {
    return this.index.size;
  }

  /** Adds the informer's objects. It need not have synced. */
  follow(informer: Informer): void {
    const { type } = informer;
    const name = qualifiedResource(type);
    this.followedTypes.set(name, type);
    this.byKind.set(kindKey(type.group, type.kind), type);
    const removals = [
      informer.addEventHandler((event) => {
        this.index.apply(type, event);
        for (const handler of this.handlers) handler(type, event);
      }),
      // The objects of namespaces that other replicas hold from now on: nothing has happened to them.
      informer.addShardHandler?.({
        left: (objects) => objects.forEach((object) => this.index.forget(type, object)),
        listed: () => undefined,
      }),
    ];
    this.followed.set(name, { informer, unsubscribe: () => removals.forEach((remove) => remove?.()) });
  }

  /**
   * Removes the type and its objects: it is no longer served, which does not mean that they are deleted. Listeners are
   * notified of each.
   */
  forget(type: ResourceType): void {
    const name = qualifiedResource(type);
    this.followed.get(name)?.unsubscribe();
    this.followed.delete(name);
    this.followedTypes.delete(name);
    this.byKind.delete(kindKey(type.group, type.kind));
    for (const node of this.index.removeType(type))
      for (const handler of this.forgottenHandlers) handler(node);
  }

  /** Marks watched types as completely cached, or as cached in one more shard. */
  markListed(types: readonly ResourceType[]): void {
    const listed = types.filter((type) => this.followed.has(qualifiedResource(type)));
    if (listed.length > 0) for (const handler of this.listedHandlers) handler(listed);
  }

  /** Removes everything, without notifications. */
  clear(): void {
    for (const { unsubscribe } of this.followed.values()) unsubscribe();
    for (const map of [this.followed, this.followedTypes, this.byKind]) map.clear();
    this.index.clear();
  }

  /** All cached objects. */
  nodes(): Iterable<GraphNode> {
    return this.index.nodes();
  }

  get(type: ResourceType, ref: ObjectRef): DeepReadonly<KubernetesObject> | undefined {
    return this.followed.get(qualifiedResource(type))?.informer.lister.get(keyOf(ref));
  }

  /** All objects with `uid` among their owners. */
  dependentsOf(uid: string | undefined): GraphNode[] {
    return uid === undefined ? [] : this.index.dependentsOf(uid);
  }

  /** The dependents whose reference really matches the owner: by kind, name and scope. */
  dependentsOfOwner(owner: GraphNode): GraphNode[] {
    const { uid } = owner.object.metadata;
    return this.dependentsOf(uid).filter(({ object }) => isDependentOf(object, owner));
  }

  findByUid(uid: string): GraphNode | undefined {
    return this.index.find(uid);
  }

  /** The watched type of a reference; the version does not matter, because all versions have the same objects. */
  typeOf(reference: DeepReadonly<OwnerReference>): ResourceType | undefined {
    return this.byKind.get(kindKey(groupOf(reference.apiVersion), reference.kind));
  }

  /** The owner referenced by an object in `namespace`, if it is cached under exactly that UID. */
  ownerOf(reference: DeepReadonly<OwnerReference>, namespace: string | undefined): GraphNode | undefined {
    const type = this.typeOf(reference);
    if (!type) return undefined;
    const object = this.get(type, ownerRef(reference, type, namespace));
    return object?.metadata.uid === reference.uid ? { type, object } : undefined;
  }

  /** The newest version of the type that the cache shows. */
  resourceVersionOf(type: ResourceType): string | undefined {
    return this.followed.get(qualifiedResource(type))?.informer.lastSyncedResourceVersion;
  }

  /** The version that shows every deletion that the cache has seen; see {@link Informer.newestDeletion}. */
  newestDeletionOf(type: ResourceType): string | undefined {
    return this.followed.get(qualifiedResource(type))?.informer.newestDeletion;
  }

  /**
   * Calls `handler` for every change of every watched type, first with `added` (initial) for all cached objects;
   * returns its removal.
   */
  onEvent(handler: GraphEventHandler): () => void {
    for (const { object, type } of this.nodes()) handler(type, { type: 'added', object, initial: true });
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  /** Calls `handler` with the types whose first list, or that of a shard, completes from now on; returns its removal. */
  onListed(handler: (types: readonly ResourceType[]) => void): () => void {
    this.listedHandlers.add(handler);
    return () => void this.listedHandlers.delete(handler);
  }

  /** Calls `handler` for every object of a removed type; returns its removal. */
  onForgotten(handler: (node: GraphNode) => void): () => void {
    this.forgottenHandlers.add(handler);
    return () => void this.forgottenHandlers.delete(handler);
  }
}

/** An owner's scope: its dependent's namespace, unless its type is cluster-scoped. */
export function ownerRef(
  reference: DeepReadonly<OwnerReference>,
  type: ResourceType,
  namespace: string | undefined,
): ObjectRef {
  return type.namespaced ? { namespace, name: reference.name } : { name: reference.name };
}

/** Whether a reference of `object` really matches the owner: by kind, name, UID and scope. */
export function isDependentOf(
  { metadata }: DeepReadonly<KubernetesObject>,
  { object: { metadata: owner }, type }: GraphNode,
): boolean {
  if (type.namespaced && metadata.namespace !== owner.namespace) return false;
  return (metadata.ownerReferences ?? []).some(
    (each) => each.uid === owner.uid && each.name === owner.name && namesKind(each, type),
  );
}

/** Whether a reference names the kind, in any version. */
export function namesKind(
  { apiVersion, kind }: Pick<DeepReadonly<OwnerReference>, 'apiVersion' | 'kind'>,
  type: Pick<ResourceType, 'group' | 'kind'>,
): boolean {
  return kind === type.kind && groupOf(apiVersion) === type.group;
}

export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

function kindKey(group: string, kind: string): string {
  return `${group}|${kind}`;
}
