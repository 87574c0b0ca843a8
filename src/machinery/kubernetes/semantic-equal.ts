import { ownField } from './json-values.js';

/**
 * Whether two values mean the same to the API: absent, null, and empty lists and maps are equal, as in
 * `equality.Semantic.DeepEqual` of k8s.io/apimachinery. An object that only holds such values is empty too. Go
 * distinguishes an empty optional struct from an absent one; no controller does.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b);
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameList(a, b);
  return sameFields(a as Record<string, unknown>, b as Record<string, unknown>);
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => semanticEqual(item, b[index]));
}

function sameFields(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  for (const key in a) if (!semanticEqual(a[key], ownField(b, key))) return false;
  for (const key in b) if (!Object.hasOwn(a, key) && !isNothing(b[key])) return false;
  return true;
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.length === 0;
  const fields = value as Record<string, unknown>;
  for (const key in fields) if (!isNothing(fields[key])) return false;
  return true;
}
