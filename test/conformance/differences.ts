import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Json } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';

/**
 * The differences of two values, as `path: expected …, got …`. The order of keys is ignored; absent, null, `{}` and
 * `[]` are equal.
 */
export function differences(expected: Json | undefined, actual: Json | undefined, path = ''): string[] {
  if (isEmpty(expected) && isEmpty(actual)) return [];
  if (isJsonObject(expected) && isJsonObject(actual)) {
    const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort();
    return names.flatMap((name) => differences(expected[name], actual[name], join(path, name)));
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    return Array.from({ length }, (_, index) =>
      differences(
        expected[index] as Json | undefined,
        actual[index] as Json | undefined,
        `${path}[${index}]`,
      ),
    ).flat();
  }
  return expected === actual ? [] : [`${path}: expected ${show(expected)}, got ${show(actual)}`];
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function show(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : stringifyJson(value);
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
}
