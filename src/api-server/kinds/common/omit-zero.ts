/**
 * Removes fields that Kubernetes does not distinguish from absent: `false`, `0` and `''` of plain (not optional)
 * Go fields. It leaves them out when it writes an object.
 */
export function omitZero<T extends object>(object: T, fields: readonly (keyof T)[]): void {
  for (const field of fields) {
    const value: unknown = object[field];
    if (value === false || value === 0 || value === '' || value === null) delete object[field];
  }
}
