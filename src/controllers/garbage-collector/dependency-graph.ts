import type { InformerSource } from '../../controller/index.js';
import type { Informer, ResourceEvent } from '../../informer/index.js';
import { OWNER_UID_INDEX } from '../../informer/index.js';
import type {
  DeepReadonly,
  KubernetesObject,
  ObjectRef,
  OwnerReference,
  ResourceType,
} from '../../kubernetes/index.js';
import { keyOf, qualifiedResource } from '../../kubernetes/index.js';

/** Finds an object by its own UID, wherever it lives. */
const UID_INDEX = 'garbage-collector/uid';

/** An object together with its type, which the object's `kind` alone does not tell. */
export interface GraphNode {
  readonly type: ResourceType;
  readonly object: DeepReadonly<KubernetesObject>;
}

/** Who owns whom, read from the informers' indexes: nothing is kept here a second time. */
export class DependencyGraph {
  /** The monitored types by `resource.group`. */
  readonly types: ReadonlyMap<string, ResourceType>;
  private readonly informers = new Map<string, Informer>();

  constructor(source: InformerSource, types: readonly ResourceType[]) {
    this.types = new Map(types.map((type) => [qualifiedResource(type), type]));
    for (const [name, type] of this.types) {
      const informer = source.informerFor<KubernetesObject>(type);
      informer.addIndex(UID_INDEX, ({ metadata }) => (metadata.uid === undefined ? [] : [metadata.uid]));
      this.informers.set(name, informer);
    }
  }

  /** Everything that is cached. */
  *nodes(): Generator<GraphNode> {
    for (const { lister, type } of this.informers.values())
      for (const object of lister.list()) yield { type, object };
  }

  get(type: ResourceType, ref: ObjectRef): DeepReadonly<KubernetesObject> | undefined {
    return this.informers.get(qualifiedResource(type))?.lister.get(keyOf(ref));
  }

  /** Everything that names `uid` among its owners. */
  dependentsOf(uid: string | undefined): GraphNode[] {
    if (uid === undefined) return [];
    return this.byIndex(OWNER_UID_INDEX, uid);
  }

  findByUid(uid: string): GraphNode | undefined {
    return this.byIndex(UID_INDEX, uid)[0];
  }

  /** The monitored type that a reference names; the version does not matter, objects are the same in all of them. */
  typeOf(reference: DeepReadonly<OwnerReference>): ResourceType | undefined {
    const group = groupOf(reference.apiVersion);
    for (const type of this.types.values()) {
      if (type.kind === reference.kind && type.group === group) return type;
    }
    return undefined;
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
    return this.informers.get(qualifiedResource(type))?.lastSyncedResourceVersion;
  }

  /** The state of the type that shows every deletion that the cache has seen; see {@link Informer.newestDeletion}. */
  newestDeletionOf(type: ResourceType): string | undefined {
    return this.informers.get(qualifiedResource(type))?.newestDeletion;
  }

  /** Calls `handler` for every change of every monitored type; returns its removal. */
  onEvent(handler: (type: ResourceType, event: ResourceEvent<KubernetesObject>) => void): () => void {
    const removals = [...this.informers.values()].map((informer) =>
      informer.addEventHandler((event) => handler(informer.type, event)),
    );
    return () => removals.forEach((remove) => remove());
  }

  private byIndex(index: string, value: string): GraphNode[] {
    const found: GraphNode[] = [];
    for (const { type, lister } of this.informers.values()) {
      for (const object of lister.byIndex(index, value)) found.push({ type, object });
    }
    return found;
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

export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
