import { ownField } from '../../base/kubernetes/index.js';

/**
 * Equality as the API sees it: the order of keys means nothing, and absent, null, `{}` and `[]` are the same
 * (Kubernetes: `apiequality.Semantic`).
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false;
  return fieldsEqual(a as Record<string, unknown>, b as Record<string, unknown>);
}

function fieldsEqual(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  for (const key of Object.keys(a)) if (!semanticEqual(a[key], ownField(b, key))) return false;
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !isEmpty(b[key])) return false;
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}
