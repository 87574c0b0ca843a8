import { errorMessage } from '@rollkeeper/machinery/errors';
import {
  apiVersionOf,
  cloneJson,
  qualifiedResource,
  uncheckedObject,
} from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { KindRegistry } from '../../kinds/index.js';
import { normalizeObject } from '../../schema/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import type { ObjectCheck } from '../../storage/index.js';

/**
 * Whether an object that is stored under a built-in kind is one: of its version and kind, with values of the types that its
 * schema says. What else wrote to the store, or another release, has not asked that.
 */
export function storedObjectCheck(kinds: KindRegistry, schemas: SchemaRegistry): ObjectCheck {
  const byResource = new Map(
    kinds.kinds.filter(({ view }) => !view).map((kind) => [qualifiedResource(kind.type), kind]),
  );
  return (resource, object) => {
    const kind = byResource.get(resource);
    if (!kind) return undefined;
    const copy = uncheckedObject(cloneJson(object));
    const expected = apiVersionOf(kind.type);
    const { apiVersion = expected, kind: name = kind.type.kind }: Partial<UnstructuredObject> = copy;
    if (apiVersion !== expected || name !== kind.type.kind)
      return `it is a ${String(copy.kind)} of ${String(copy.apiVersion)}, not a ${kind.type.kind} of ${expected}`;
    const empty = emptyItemOf(copy, '');
    if (empty !== undefined) return `${empty} is null`;
    try {
      normalizeObject(copy, schemas, kind.schema);
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  };
}

/** The path of a `null` in a list, where an object or a text has to be. */
function emptyItemOf(value: unknown, path: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    const found = item === null && Array.isArray(value) ? at : emptyItemOf(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
