import { isJsonObject, ownField, setField } from './json-values.js';

/** Applies a merge patch (RFC 7386). May change `target`, and shares parts with `patch`. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged = isJsonObject(target) ? target : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else setField(merged, name, mergePatch(ownField(merged, name), value));
  }
  return merged;
}
