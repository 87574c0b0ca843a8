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
