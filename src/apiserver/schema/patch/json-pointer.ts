import { isJsonObject, isList, ownField, setField } from '@rollkeeper/machinery/kubernetes';

/** The target of a path cannot be used as the operation wants; the words are those of the genuine server's library. */
export class PointerError extends Error {}

/** A place in a document: an entry of an object or list that is there itself, whether the entry is or not. */
export interface Place {
  readonly container: Container;
  readonly key: string;
}

type Container = Record<string, unknown> | unknown[];

const MISSING = 'missing value';
const INDEX = /^[+-]?\d{1,15}$/;

/**
 * Follows a JSON pointer (RFC 6901) up to its last step. Only follows own fields.
 * @returns undefined where the way ends before
 */
export function findPlace(document: unknown, pointer: string): Place | undefined {
  if (!pointer.startsWith('/')) return undefined;
  const steps = pointer.slice(1).split('/').map(unescape);
  const key = steps.pop() ?? '';
  let at = document;
  for (const step of steps) {
    at = childOf(at, step);
    if (at === undefined) return undefined;
  }
  return isContainer(at) ? { container: at, key } : undefined;
}

function unescape(step: string): string {
  return step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step;
}

function childOf(value: unknown, step: string): unknown {
  if (isJsonObject(value)) return ownField(value, step);
  return isList(value) && INDEX.test(step) ? value.at(Number(step)) : undefined;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

/**
 * The value at a place; undefined for a field that is not there.
 * @throws PointerError for an item that is not there
 */
export function valueAt({ container, key }: Place): unknown {
  return Array.isArray(container) ? container[indexIn(container, key, 0)] : ownField(container, key);
}

/** @throws PointerError for an item that is not there */
export function replaceAt({ container, key }: Place, value: unknown): void {
  if (Array.isArray(container)) container[indexIn(container, key, 0)] = value;
  else setField(container, key, value);
}

/** Into a list before the item at the index, or behind all of them (`-`). @throws PointerError */
export function insertAt({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) setField(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(indexIn(container, key, 1), 0, value);
}

/** @throws PointerError for what is not there */
export function removeAt({ container, key }: Place): void {
  if (Array.isArray(container)) container.splice(indexIn(container, key, 0), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw new PointerError(`Unable to remove nonexistent key: ${key}: ${MISSING}`);
}

/** Negative ones count from the end, as in the genuine server. */
function indexIn({ length }: readonly unknown[], key: string, beyond: 0 | 1): number {
  if (!INDEX.test(key)) throw new PointerError(`value was not a proper array index: '${key}'`);
  const index = Number(key);
  const found = index < 0 ? index + length + beyond : index;
  if (found >= 0 && found < length + beyond) return found;
  throw new PointerError(`Unable to access invalid index: ${index}: invalid index referenced`);
}

/** A JSON object. */
export type JsonObject = Record<string, unknown>;
