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

/** Whether a value is what JSON calls an object: no array, and not null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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

/** Fields by name, as JSON has them: any text is a name, also one that every JavaScript object seems to have. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** The value of a field that is there itself; what an object only inherits (`constructor`, `__proto__`) is none. */
export function ownField<T>(fields: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Sets a field. Unlike an assignment it makes `__proto__` a field like any other, and changes no prototype. */
export function setField<T>(fields: Record<string, T>, name: string, value: NoInfer<T>): void {
  if (name !== '__proto__') fields[name] = value;
  else Object.defineProperty(fields, name, { value, writable: true, enumerable: true, configurable: true });
}
