import { isJsonObject } from '@rollkeeper/machinery/kubernetes';

/** The parts of an object whose fields are read individually. */
const PARTS = ['metadata', 'spec', 'status'] as const;

/** Kubernetes' own groups: `v1`, `apps/v1`, `coordination.k8s.io/v1`. Groups of custom resources are other domains. */
const BUILT_IN = /^([^./]+\/|[^/]+\.k8s\.io\/)?[^/]+$/;

/**
 * Removes nulls from an API object, or from the objects in a list. To Kubernetes, null means absent (a Go decoder does
 * not touch the field), and code with `?? 1` or destructuring defaults needs the same. Looks at the object itself, its
 * metadata, spec and status. Nulls deeper down are kept: they may be in a user's data, such as a template that must be
 * sent back unchanged. A null in the spec or status of a custom resource may be meaningful (`nullable: true` in its
 * schema) and is kept. Changes and returns `body`.
 * @param text the source of `body`: most texts contain no null and need no traversal
 */
export function dropNulls(body: unknown, text: string): unknown {
  if (!text.includes('null') || !isJsonObject(body)) return body;
  const parts =
    typeof body.apiVersion === 'string' && !BUILT_IN.test(body.apiVersion) ? (['metadata'] as const) : PARTS;
  dropFrom(body, parts);
  const { items } = body;
  if (Array.isArray(items)) for (const item of items) if (isJsonObject(item)) dropFrom(item, parts);
  return body;
}

function dropFrom(object: Record<string, unknown>, parts: readonly string[]): void {
  dropFields(object);
  for (const part of parts) {
    const fields = object[part];
    if (isJsonObject(fields)) dropFields(fields);
  }
}

function dropFields(fields: Record<string, unknown>): void {
  for (const name in fields) if (fields[name] === null) delete fields[name];
}
