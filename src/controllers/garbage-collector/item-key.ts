import type { ObjectRef, ResourceType } from '../../base/kubernetes/index.js';
import { qualifiedResource } from '../../base/kubernetes/index.js';

/** An object that the collector looks at. */
export interface CollectableItem {
  readonly type: ResourceType;
  readonly ref: ObjectRef;
}

const SEPARATOR = '|';

/**
 * The collector has one queue for objects of many types, so the type travels in the ref's namespace:
 * `replicasets.apps|default` and `web-1` become the key `replicasets.apps|default/web-1`, and a cluster-scoped
 * object's key is `nodes|/node-0`. Neither a resource nor a namespace can hold the separator.
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
