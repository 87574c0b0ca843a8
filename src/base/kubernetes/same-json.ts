import { ownField } from './json-fields.js';
import type { JsonFields } from './json-fields.js';

/**
 * Whether two values are the same JSON: the order of fields and fields without a value mean nothing. Asked for every change
 * that is seen, hence without anything made on the way.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  return sameFields(a as JsonFields, b as JsonFields);
}

function sameFields(a: JsonFields, b: JsonFields): boolean {
  for (const name in a) if (!sameJson(a[name], ownField(b, name))) return false;
  for (const name in b) if (b[name] !== undefined && !Object.hasOwn(a, name)) return false;
  return true;
}
