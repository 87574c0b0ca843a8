import { isJsonObject } from '@rollkeeper/machinery/kubernetes';

const HIDDEN = '…';
/** Lists whose entries have a value that may be secret. */
const NAMED_VALUES: ReadonlySet<string> = new Set(['env', 'httpHeaders']);
/** Lists of words that may contain a secret. */
const WORDS: ReadonlySet<string> = new Set(['args', 'command']);
/** A copy of the whole object. */
const COPIES: ReadonlySet<string> = new Set(['kubectl.kubernetes.io/last-applied-configuration']);

/**
 * The same object without values that may be secret: those of environment variables and headers, arguments and commands.
 * For anonymous readers.
 */
export function withoutValues(value: unknown, field = ''): unknown {
  if (COPIES.has(field)) return HIDDEN;
  if (Array.isArray(value)) {
    if (WORDS.has(field)) return [HIDDEN];
    return value.map((item: unknown) =>
      NAMED_VALUES.has(field) && isJsonObject(item) && 'value' in item
        ? { ...item, value: HIDDEN }
        : withoutValues(item),
    );
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutValues(each, name)]));
}
