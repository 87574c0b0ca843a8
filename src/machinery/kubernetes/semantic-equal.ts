import { isJsonObject, ownField } from './json-values.js';

/**
 * Whether two values mean the same to the API: absent, null, and empty lists and maps are equal, as in
 * `equality.Semantic.DeepEqual` of k8s.io/apimachinery. An object that only holds such values is empty too. Go
 * distinguishes an empty optional struct from an absent one; no controller does.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, isNothing);
}

/**
 * The same for objects as the API server keeps them, where an empty object is a struct that was asked for:
 * a `namespaceSelector: {}` selects all namespaces. Go's comparison tells the two apart.
 */
export function sameMeaning(a: unknown, b: unknown): boolean {
  return equal(a, b, isAbsent);
}

type Emptiness = (value: unknown) => boolean;

function equal(a: unknown, b: unknown, isEmpty: Emptiness): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a)) return Array.isArray(b) && sameList(a, b, isEmpty);
  return isJsonObject(a) && isJsonObject(b) && sameFields(a, b, isEmpty);
}

function sameList(a: readonly unknown[], b: readonly unknown[], isEmpty: Emptiness): boolean {
  return a.length === b.length && a.every((item, index) => equal(item, b[index], isEmpty));
}

function sameFields(a: Record<string, unknown>, b: Record<string, unknown>, isEmpty: Emptiness): boolean {
  for (const key in a) if (!equal(a[key], ownField(b, key), isEmpty)) return false;
  for (const key in b) if (!Object.hasOwn(a, key) && !isEmpty(b[key])) return false;
  return true;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isJsonObject(value)) return false;
  for (const key in value) if (!isNothing(value[key])) return false;
  return true;
}
