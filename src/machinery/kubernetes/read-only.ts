import { cloneJson } from './json-values.js';
import type { DeepReadonly } from './objects.js';

/**
 * The same value, to be read only. For values of a type parameter: the compiler sees that a `Pod` is a `DeepReadonly<Pod>`, but
 * not that every `T` is a `DeepReadonly<T>`.
 */
export function readOnly<T>(value: T): DeepReadonly<T> {
  return value as DeepReadonly<T>;
}

/** A deep copy of a JSON value. Unlike the value itself, the copy may be changed. */
export function writableCopy<T>(value: DeepReadonly<T>): T {
  return cloneJson(value) as T;
}

/**
 * The same object, as the methods of API clients take it. They only read an object and send it, so nothing is copied.
 */
export function asSent<T>(object: DeepReadonly<T>): T {
  return object as T;
}
