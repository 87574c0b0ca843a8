import type {
  ObjectRef,
  ResourceType,
  DeepReadonly,
  KubernetesObject,
} from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';

/** An object that the collector checks. */
export interface CollectableItem {
  readonly type: ResourceType;
  readonly ref: ObjectRef;
}

const SEPARATOR = '|';

/**
 * The collector has one queue for objects of many types, so the type is encoded in the ref's namespace:
 * `replicasets.apps|default` and `web-1` become the key `replicasets.apps|default/web-1`, and a cluster-scoped object's
 * key is `nodes|/node-0`. Neither a resource nor a namespace can contain the separator.
 */
export function itemRef(type: ResourceType, ref: ObjectRef): ObjectRef {
  return { namespace: `${qualifiedResource(type)}${SEPARATOR}${ref.namespace ?? ''}`, name: ref.name };
}

/** The inverse of {@link itemRef}; undefined for a type that is not among `types`, or a malformed ref. */
export function parseItemRef(
  ref: ObjectRef,
  types: ReadonlyMap<string, ResourceType>,
): CollectableItem | undefined {
  const [resource = '', namespace] = (ref.namespace ?? '').split(SEPARATOR);
  const type = types.get(resource);
  if (!type || namespace === undefined) return undefined;
  return { type, ref: namespace === '' ? { name: ref.name } : { namespace, name: ref.name } };
}

/** The namespace of the object of a key; undefined if it has none. */
export function namespaceOfItem({ namespace = '' }: ObjectRef): string | undefined {
  return namespace.slice(namespace.indexOf(SEPARATOR) + 1) || undefined;
}

/** Set by the server for propagationPolicy=Orphan; source: `metav1.FinalizerOrphanDependents`. */
export const ORPHAN_FINALIZER = 'orphan';
/** Set by the server for propagationPolicy=Foreground; source: `metav1.FinalizerDeleteDependents`. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

type Readable = DeepReadonly<KubernetesObject>;

export function isBeingDeleted(object: Readable): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function hasFinalizer(object: Readable, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** The object waits until its blocking dependents are deleted. */
export function isDeletingDependents(object: Readable): boolean {
  return isBeingDeleted(object) && hasFinalizer(object, FOREGROUND_FINALIZER);
}

/** The object waits until its dependents no longer reference it. */
export function isOrphaningDependents(object: Readable): boolean {
  return isBeingDeleted(object) && hasFinalizer(object, ORPHAN_FINALIZER);
}
