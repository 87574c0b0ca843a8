import { isJsonObject, sameJson } from '@rollkeeper/machinery/kubernetes';

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * The JSON patch (RFC 6902) from one JSON value to another. Fields that are undefined count as absent. A list of another
 * length is replaced as a whole.
 */
export function jsonPatchBetween(before: unknown, after: unknown, path = ''): JsonPatchOperation[] {
  if (sameJson(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) return objectPatch(before, after, path);
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return after.flatMap((item, index) => jsonPatchBetween(before[index], item, `${path}/${index}`));
  return [{ op: 'replace', path, value: after }];
}

function objectPatch(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  path: string,
): JsonPatchOperation[] {
  const has = (fields: Readonly<Record<string, unknown>>, field: string): boolean =>
    Object.hasOwn(fields, field) && fields[field] !== undefined;
  const removed = Object.keys(before).filter((field) => has(before, field) && !has(after, field));
  const rest = Object.entries(after).filter(([, value]) => value !== undefined);
  return [
    ...removed.map((field) => ({ op: 'remove', path: `${path}/${escaped(field)}` }) as const),
    ...rest.flatMap(([field, value]): JsonPatchOperation[] => {
      const at = `${path}/${escaped(field)}`;
      if (!has(before, field)) return [{ op: 'add', path: at, value }];
      return jsonPatchBetween(before[field], value, at);
    }),
  ];
}

/** RFC 6901 */
function escaped(field: string): string {
  return field.replaceAll('~', '~0').replaceAll('/', '~1');
}
