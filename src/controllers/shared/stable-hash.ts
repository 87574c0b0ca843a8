import { createHash } from 'node:crypto';
import { SAFE_ALPHABET, stringifyJson } from '@rollkeeper/machinery/kubernetes';

const LENGTH = 10;

/**
 * A short hash of an API value, suitable for names: independent of the order of keys and of empty fields.
 * @param collisionCount varies it when a name is taken
 */
export function stableHash(value: unknown, collisionCount = 0): string {
  const digest = createHash('sha256')
    .update(stringifyJson(canonical(value)))
    .update(collisionCount === 0 ? '' : `#${collisionCount}`)
    .digest();
  let rest = digest.readUIntBE(0, 6);
  let text = '';
  for (let i = 0; i < LENGTH; i++) {
    text += SAFE_ALPHABET.charAt(rest % SAFE_ALPHABET.length);
    rest = Math.floor(rest / SAFE_ALPHABET.length);
  }
  return text;
}

/** The value with sorted keys and without empty fields; `undefined` for an empty one. */
function canonical(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((item) => canonical(item) ?? {});
  if (typeof value !== 'object') return value;
  const fields = Object.entries(value)
    .map(([key, field]) => [key, canonical(field)] as const)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}
