import { isJsonObject, isList } from './json-values.js';
import { stringifyJson } from './json-text.js';

/**
 * The same text for all that `sameJson` takes for the same, so that many values can be compared at a linear cost. Fields are
 * in the order of their names; undefined ones are left out.
 */
export function canonicalJson(value: unknown): string {
  return stringifyJson(ordered(value));
}

function ordered(value: unknown): unknown {
  if (isList(value)) return ['[', ...value.map(ordered)];
  if (!isJsonObject(value)) return value;
  // An array of pairs: names such as `__proto__` are fields like any other, and numbers do not change places.
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return ['{', ...names.sort().map((name) => [name, ordered(value[name])])];
}
