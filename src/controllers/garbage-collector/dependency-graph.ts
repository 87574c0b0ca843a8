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
 * Who owns whom, over all types that are followed: read from their informers, with one index over all of them, so that no
 * object is kept a second time. Types come and go while it is in use.
 */
export class DependencyGraph {
  private readonly followed = new Map<string, Followed>();
  private readonly followedTypes = new Map<string, ResourceType>();
  private readonly byKind = new Map<string, ResourceType>();
  private readonly index = new OwnershipIndex();
  private readonly handlers = new Set<GraphEventHandler>();
  private readonly forgottenHandlers = new Set<(node: GraphNode) => void>();
  private readonly listedHandlers = new Set<(type: ResourceType) => void>();

  /** The types that are followed, by `resource.group`. */
  get types(): ReadonlyMap<string, ResourceType> {
    return this.followedTypes;
  }

  /** How many objects are cached. */
  get size(): number {
    return this.index.size;
  }

  /** From now on shows what the informer caches. It need not have synced. */
  follow(informer: Informer): void {
    const { type } = informer;
    const name = qualifiedResource(type);
    this.followedTypes.set(name, type);
    this.byKind.set(kindKey(type.group, type.kind), type);
    const unsubscribe = informer.addEventHandler((event) => {
      this.index.apply(type, event);
      for (const handler of this.handlers) handler(type, event);
    });
    this.followed.set(name, { informer, unsubscribe });
  }

  /**
   * From now on knows nothing of the type and its objects: it is not served any more, which does not say that they are gone.
   * Who listens is told of each.
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

  /** Tells that everything there is of a followed type is cached by now. */
  markListed(type: ResourceType): void {
    if (!this.followed.has(qualifiedResource(type))) return;
    for (const handler of this.listedHandlers) handler(type);
  }

  /** Knows nothing any more, and tells nobody. */
  clear(): void {
    for (const { unsubscribe } of this.followed.values()) unsubscribe();
    for (const map of [this.followed, this.followedTypes, this.byKind]) map.clear();
    this.index.clear();
  }

  /** Everything that is cached. */
  nodes(): Iterable<GraphNode> {
    return this.index.nodes();
  }

  get(type: ResourceType, ref: ObjectRef): DeepReadonly<KubernetesObject> | undefined {
    return this.followed.get(qualifiedResource(type))?.informer.lister.get(keyOf(ref));
  }

  /** Everything that names `uid` among its owners. */
  dependentsOf(uid: string | undefined): GraphNode[] {
    return uid === undefined ? [] : this.index.dependentsOf(uid);
  }

  /** Those of them whose reference can mean the owner: it gives its kind and name, and is where it may point from. */
  dependentsOfOwner({ object: { metadata }, type }: GraphNode): GraphNode[] {
    const { name, namespace, uid } = metadata;
    return this.dependentsOf(uid).filter(({ object: dependent }) => {
      if (type.namespaced && dependent.metadata.namespace !== namespace) return false;
      const references = dependent.metadata.ownerReferences ?? [];
      return references.some((each) => each.uid === uid && each.name === name && namesKind(each, type));
    });
  }

  findByUid(uid: string): GraphNode | undefined {
    return this.index.find(uid);
  }

  /** The followed type that a reference names; the version does not matter, objects are the same in all of them. */
  typeOf(reference: DeepReadonly<OwnerReference>): ResourceType | undefined {
    return this.byKind.get(kindKey(groupOf(reference.apiVersion), reference.kind));
  }

  /** The owner that a reference of an object in `namespace` names, if it is cached under that very UID. */
  ownerOf(reference: DeepReadonly<OwnerReference>, namespace: string | undefined): GraphNode | undefined {
    const type = this.typeOf(reference);
    if (!type) return undefined;
    const object = this.get(type, ownerRef(reference, type, namespace));
    return object?.metadata.uid === reference.uid ? { type, object } : undefined;
  }

  /** The newest state of the type that the cache shows. */
  resourceVersionOf(type: ResourceType): string | undefined {
    return this.followed.get(qualifiedResource(type))?.informer.lastSyncedResourceVersion;
  }

  /** The state of the type that shows every deletion that the cache has seen; see {@link Informer.newestDeletion}. */
  newestDeletionOf(type: ResourceType): string | undefined {
    return this.followed.get(qualifiedResource(type))?.informer.newestDeletion;
  }

  /**
   * Calls `handler` for every change of every followed type, first with `added` (initial) for everything that is cached;
   * returns its removal.
   */
  onEvent(handler: GraphEventHandler): () => void {
    for (const { object, type } of this.nodes()) handler(type, { type: 'added', object, initial: true });
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  /** Calls `handler` for every type that is listed for the first time from now on; returns its removal. */
  onListed(handler: (type: ResourceType) => void): () => void {
    this.listedHandlers.add(handler);
    return () => void this.listedHandlers.delete(handler);
  }

  /** Calls `handler` for every object of a type that was forgotten; returns its removal. */
  onForgotten(handler: (node: GraphNode) => void): () => void {
    this.forgottenHandlers.add(handler);
    return () => void this.forgottenHandlers.delete(handler);
  }
}

/** Where an owner lives: in its dependent's namespace, unless its type has none. */
export function ownerRef(
  reference: DeepReadonly<OwnerReference>,
  type: ResourceType,
  namespace: string | undefined,
): ObjectRef {
  return type.namespaced ? { namespace, name: reference.name } : { name: reference.name };
}

/** Whether a reference means the kind, in whichever version. */
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
