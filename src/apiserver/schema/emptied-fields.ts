import { isJsonObject } from '@rollkeeper/machinery/kubernetes';

/** The fields that an author wrote as an empty list or map, which the stored form of an object does not have. */
type Emptied = Map<string, 'list' | 'map'>;

/** By the struct that has the fields. It is forgotten with the object, and never stored, as in a genuine server. */
const emptied = new WeakMap<object, Emptied>();

/** Notes that a field was written as an empty list or map, and was removed. */
export function noteEmptied(struct: object, field: string, value: unknown): void {
  let fields = emptied.get(struct);
  if (!fields) emptied.set(struct, (fields = new Map<string, 'list' | 'map'>()));
  fields.set(field, Array.isArray(value) ? 'list' : 'map');
}

/**
 * A field as its author wrote it: an empty list or map, which Go tells apart from none in the messages that show it.
 * @returns undefined for a field that was not written, or was null
 */
export function asWritten(struct: object | undefined, field: string): unknown {
  if (struct === undefined) return undefined;
  const value = (struct as Readonly<Record<string, unknown>>)[field];
  if (value !== undefined) return value;
  const kind = emptied.get(struct)?.get(field);
  return kind === undefined ? undefined : kind === 'list' ? [] : {};
}

/** Whether an empty list or map was written anywhere in a value. */
export function hasEmptied(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasEmptied);
  if (!isJsonObject(value)) return false;
  if (emptied.has(value)) return true;
  for (const key in value) if (hasEmptied(value[key])) return true;
  return false;
}

/** Takes what is known of a value over to its copy. */
export function copyEmptied(from: unknown, to: unknown): void {
  if (Array.isArray(from) && Array.isArray(to)) {
    for (let index = 0; index < from.length; index++) copyEmptied(from[index], to[index]);
    return;
  }
  if (!isJsonObject(from) || !isJsonObject(to)) return;
  const fields = emptied.get(from);
  if (fields) emptied.set(to, new Map(fields));
  for (const key in from) copyEmptied(from[key], to[key]);
}
