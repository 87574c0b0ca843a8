import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';

type QueryValue = string | number | boolean | undefined;

/** `/api/v1` for the core group, `/apis/apps/v1` for the others. */
function groupVersionPath(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
}

/** Path of a collection; without a namespace, of all namespaces. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const scope = type.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${groupVersionPath(type)}${scope}/${type.resource}`;
}

/**
 * Path of one object or its subresource.
 * @throws InvalidOptionError without a name, or without a namespace for a namespaced type
 */
export function objectPath(type: ResourceType, ref: ObjectRef, subresource?: string): string {
  requireNamespace(type, ref.namespace);
  // An empty name would address the whole collection, and a DELETE would empty it.
  if (!ref.name) throw new InvalidOptionError('metadata.name', `must be set for ${type.resource}`);
  const path = `${collectionPath(type, ref.namespace)}/${encodeURIComponent(ref.name)}`;
  return subresource ? `${path}/${subresource}` : path;
}

export function requireNamespace(type: ResourceType, namespace: string | undefined): void {
  if (type.namespaced && !namespace) {
    throw new InvalidOptionError('metadata.namespace', `must be set for ${type.resource}`);
  }
}

/** The query with a leading `?`, or nothing; `undefined` and empty values are omitted. */
export function queryString(values: Readonly<Record<string, QueryValue>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
