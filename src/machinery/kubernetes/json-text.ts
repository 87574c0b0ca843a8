/**
 * The only conversion between text and objects. Kubernetes integers are int64, and a double cannot hold all of them:
 * large ones become `bigint` (see {@link Int64}), and are written back exactly. A text without large integers is parsed
 * by `JSON.parse` alone, after a look at every sixteenth character.
 */

/** The digits of 2^53, below which no integer is lost. */
const LONG = 16;
const MAX_SAFE = String(Number.MAX_SAFE_INTEGER);
/** Any finite double has at most this many digits; a longer number becomes Infinity, as in `JSON.parse`. */
const MAX_DIGITS = 309;

const INTEGER = /^-?\d+$/;
/** A number with a fraction or an exponent where a value may be. Also matches strings that look like one. */
const FRACTION = /(?:^|[:[,])\s*-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)\s*(?:[,}\]]|$)/;

const LARGE_INTEGER = new RegExp(String.raw`^-?\d{${LONG},${MAX_DIGITS}}$`);

/** @throws SyntaxError if it is not JSON */
export function parseJson(text: string): unknown {
  return holdsLargeInteger(text) ? json.parse(text, keepInteger) : JSON.parse(text);
}

/** Keyed by the containing object or list, then by key: the source text of whole numbers written as fractions. */
export type WrittenFractions = ReadonlyMap<unknown, ReadonlyMap<string, string>>;

/**
 * As {@link parseJson}, which does not distinguish `3.0` from `3`; Go only accepts the latter as an integer.
 * @throws SyntaxError if it is not JSON
 */
export function parseJsonWithFractions(text: string): {
  readonly value: unknown;
  readonly fractions: WrittenFractions;
} {
  const fractions = new Map<unknown, Map<string, string>>();
  if (!FRACTION.test(text)) return { value: parseJson(text), fractions };
  const value = json.parse(
    text,
    function (this: unknown, key: string, each: unknown, context: SourceOfValue) {
      const { source = '' } = context;
      if (Number.isInteger(each) && !INTEGER.test(source)) {
        const there = fractions.get(this) ?? new Map<string, string>();
        fractions.set(this, there.set(key, source));
      }
      return keepInteger(key, each, context);
    },
  );
  return { value, fractions };
}

/**
 * The value as JSON, `bigint` included; indented by `space` characters if given.
 * @throws TypeError for circular references
 */
export function stringifyJson(value: unknown, space?: number): string {
  try {
    return space === undefined ? JSON.stringify(value) : JSON.stringify(value, undefined, space);
  } catch (error) {
    // Trying and failing is cheaper than checking in advance for objects without a bigint.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, writeIntegers, space);
  }
}

/** A replacer for `JSON.stringify` that writes `bigint`. */
export function writeIntegers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? json.rawJSON(String(value)) : value;
}

/**
 * Whether `text`, if it is JSON, may hold an integer beyond a double's range; strings that look like one count too. A
 * run of sixteen digits covers one position in sixteen, so only these are checked.
 */
export function holdsLargeInteger(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text, at)) continue;
    let start = at;
    while (isDigit(text, start - 1)) start--;
    let end = at + 1;
    while (isDigit(text, end)) end++;
    if (end - start >= LONG && isLargeInteger(text, start, end)) return true;
    at = end;
  }
  return false;
}

/** Whether the digits form a complete number, where a number may be, with too many digits. */
function isLargeInteger(text: string, start: number, end: number): boolean {
  const before = text[text[start - 1] === '-' ? start - 2 : start - 1];
  if (before !== undefined && !':,[ \n\r\t'.includes(before)) return false;
  const after = text[end];
  if (after !== undefined && !',}] \n\r\t'.includes(after)) return false;
  return end - start > LONG || text.slice(start, end) > MAX_SAFE;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function keepInteger(_key: string, value: unknown, { source }: SourceOfValue): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return LARGE_INTEGER.test(source) ? BigInt(source) : value;
}

/** The source text of a primitive value. */
interface SourceOfValue {
  readonly source?: string;
}

/** Parts of ECMAScript that the compiler's library lacks. */
const json = JSON as JSON & {
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: SourceOfValue) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};
