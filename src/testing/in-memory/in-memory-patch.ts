import { ownField, setField, isJsonObject, mergePatch } from '@rollkeeper/machinery/kubernetes';

import { applyJsonPatch } from '../../apiserver/schema/patch/json-patch.js';

type Fields = Record<string, unknown>;

/**
 * The merge patches that controllers send: fields are merged, null removes; in a strategic patch `ownerReferences` are
 * merged by `uid`, with `$patch: delete`. JSON patches are those of the embedded API server.
 */
export function applyPatch(
  target: unknown,
  patch: { readonly type: string; readonly body: unknown },
): unknown {
  const [copy, body] = [structuredClone(target), structuredClone(patch.body)];
  if (patch.type === 'json') return applyJsonPatch(copy as Fields, body as Fields[]);
  return patch.type === 'strategic' ? strategicMerge(copy, body) : mergePatch(copy, body);
}

function strategicMerge(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: Fields = isJsonObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else if (name === 'ownerReferences') setField(result, name, mergeByUid(ownField(result, name), value));
    else setField(result, name, strategicMerge(ownField(result, name), value));
  }
  return result;
}

function mergeByUid(target: unknown, patch: unknown): Fields[] {
  const merged = new Map(asList(target).map((item) => [item.uid, item]));
  for (const { $patch: directive, ...item } of asList(patch)) {
    if (directive === 'delete') merged.delete(item.uid);
    else merged.set(item.uid, { ...merged.get(item.uid), ...item });
  }
  return [...merged.values()];
}

function asList(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
