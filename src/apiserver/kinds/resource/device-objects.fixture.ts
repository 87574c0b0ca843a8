import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import type { KindDefinition } from '../kind-definition.js';

export type Fields = Record<string, unknown>;

/** An object of a kind of `resource.k8s.io`, with its defaults. */
export function made(kind: KindDefinition, spec: Fields, status?: Fields): UnstructuredObject {
  const metadata = { name: 'x', ...(kind.type.namespaced && { namespace: 'n' }) };
  const object: UnstructuredObject = structuredClone({
    ...{ apiVersion: 'resource.k8s.io/v1', kind: kind.type.kind, metadata, spec },
    ...(status && { status }),
  });
  kind.applyDefaults(object);
  return object;
}

/** The problems of creating it: `field: message`. */
export const problems = (kind: KindDefinition, spec: Fields): string[] =>
  kind.validateCreate(made(kind, spec)).map(({ field, message }) => `${field}: ${message}`);

export const exactly = (fields: Fields = {}, name = 'r') => ({
  name,
  exactly: { deviceClassName: 'c', ...fields },
});
export const claiming = (...requests: unknown[]) => ({ devices: { requests } });
