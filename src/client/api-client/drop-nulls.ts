import { isJsonObject } from '@rollkeeper/machinery/kubernetes';

/** The parts of an object whose fields the program reads one by one. */
const PARTS = ['metadata', 'spec', 'status'] as const;

/** Of Kubernetes' own groups: `v1`, `apps/v1`, `coordination.k8s.io/v1`. Those of custom resources are domains of other people. */
const BUILT_IN = /^([^./]+\/|[^/]+\.k8s\.io\/)?[^/]+$/;

/**
 * Takes away what is null in an object of the API, or in those of a list: to Kubernetes, null is the same as not being there
 * (a Go decoder does not touch the field), and to whoever reads `?? 1` or a default it should be as well. Looks at the object
 * itself, its metadata, spec and status; below that only lists and maps of the user's own may be meant to hold one, such as a
 * template that must come out as it went in. In the spec and status of a custom resource a null may mean something
 * (`nullable: true` in its schema), so there it stays. Changes and returns `body`.
 * @param text what it was read from: most of it has no null, and is not looked at
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
