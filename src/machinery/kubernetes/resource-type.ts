import type { KubernetesObject } from './objects.js';

/** Never present at run time: it only carries the type of a resource's objects. */
declare const objectType: unique symbol;

/** A resource type of the API. */
export interface ResourceType {
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Lower-case plural, as in the path: `deployments`. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** A resource type that may say of which type its objects are. */
export interface TypedResource<T> extends ResourceType {
  readonly [objectType]?: T;
}

/** A kind of object: its resource in the API, and the type of its objects. */
export interface Kind<T extends KubernetesObject = KubernetesObject> extends TypedResource<T> {
  readonly part?: undefined;
}

/**
 * A kind's place in the API without the type of its objects, for subresources that speak of another: the TokenRequest of a
 * ServiceAccount, say.
 */
export function untyped(kind: Kind): ResourceType {
  return kind;
}

/** `apps/v1`, or `v1` for the core group: the text in an object's `apiVersion`. */
export function apiVersionOf(resource: Pick<ResourceType, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `deployments.apps`, or `pods` for the core group: a unique short name of the type. */
export function qualifiedResource(resource: Pick<ResourceType, 'group' | 'resource'>): string {
  return resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`;
}

/** The kind of a resource: `kindOf<Pod>('', 'v1', 'pods', 'Pod')`. */
export function kindOf<T extends KubernetesObject>(
  group: string,
  version: string,
  resource: string,
  kind: string,
  namespaced = true,
): Kind<T> {
  return Object.freeze({ group, version, resource, kind, namespaced });
}

/** Identifies an object: `namespace` is absent for cluster-scoped ones. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** The key of an object in queues, locks and caches: `namespace/name`, or `name` if cluster-scoped. */
export function keyOf(ref: ObjectRef): string {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
}

/** The inverse of {@link keyOf}. */
export function parseKey(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
