/** Which object: `namespace` is absent for cluster-scoped ones. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** The key of an object in queues, locks and caches: `namespace/name`, or `name` where there is no namespace. */
export function keyOf(ref: ObjectRef): string {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
}

/** The inverse of {@link keyOf}. */
export function parseKey(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
