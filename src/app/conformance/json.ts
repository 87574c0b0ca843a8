/** A value of JSON. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [field: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every text in `value`, at any depth, replaced by what `replace` makes of it. */
export function mapStrings(value: Json | undefined, replace: (text: string) => string): Json | undefined {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item as Json, replace) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [replace(name), mapStrings(field, replace)]),
  );
}
