import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';

/** A type whose objects are cached whole. */
export interface WholeType extends ResourceType {
  readonly part?: undefined;
}

/** The cached part of an object; may change and return the given object. */
export interface ObjectPart<T extends KubernetesObject = KubernetesObject> {
  /** Distinguishes it from other parts of the type. */
  readonly name: string;
  readonly keep: (object: T) => T;
}

/**
 * A type of which a part of each object is cached. Not a {@link WholeType}: such a cache is never returned for the
 * objects themselves.
 */
export interface PartialType extends ResourceType {
  readonly part: ObjectPart;
}

/** Identifies a cache: equal names share one cache. */
export function cacheNameOf(type: WholeType | PartialType): string {
  const name = qualifiedResource(type);
  return type.part ? `${name}#${type.part.name}` : name;
}
