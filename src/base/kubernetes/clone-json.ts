/**
 * A deep copy of what JSON can hold: an eighth of what `structuredClone` costs, which is made for all there is. A value
 * of `undefined` stays.
 */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  // Spread first: unlike an assignment it makes `__proto__` a field like any other.
  const copy = { ...value } as Record<string, unknown>;
  for (const key in copy) {
    const field = copy[key];
    if (typeof field === 'object' && field !== null) copy[key] = cloneJson(field);
  }
  return copy as T;
}
