import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';

/** A type of which a cache has the objects whole. */
export interface WholeType extends ResourceType {
  readonly part?: undefined;
}

/** What is kept of an object; may change and return the object it is given. */
export interface ObjectPart<T extends KubernetesObject = KubernetesObject> {
  /** Tells it from other parts of the type. */
  readonly name: string;
  readonly keep: (object: T) => T;
}

/**
 * A type of which a cache has a part of each object. Not a {@link WholeType}: who asks for the objects never gets that cache.
 */
export interface PartialType extends ResourceType {
  readonly part: ObjectPart;
}

/** Tells caches apart: what has the same name is one cache. */
export function cacheNameOf(type: WholeType | PartialType): string {
  const name = qualifiedResource(type);
  return type.part ? `${name}#${type.part.name}` : name;
}
