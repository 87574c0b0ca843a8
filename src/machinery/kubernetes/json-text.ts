/**
 * The one way from text to objects and back. Integers in Kubernetes are int64, and some of them no double can hold:
 * these become `bigint` (see {@link Int64}), and come out as they went in. A text without one is read by
 * `JSON.parse` alone, after a look at every sixteenth character.
 */

/** The digits of 2^53, below which no integer is lost. */
const LONG = 16;
const MAX_SAFE = String(Number.MAX_SAFE_INTEGER);
/** What a double can hold has no more digits; a longer one becomes Infinity, as `JSON.parse` has it. */
const MAX_DIGITS = 309;

const INTEGER = /^-?\d+$/;
/** A number with a fraction or an exponent, where a value may be; strings that look like it are taken for one. */
const FRACTION = /(?:^|[:[,])\s*-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)\s*(?:[,}\]]|$)/;

const LARGE_INTEGER = new RegExp(String.raw`^-?\d{${LONG},${MAX_DIGITS}}$`);

/** @throws SyntaxError for what is no JSON */
export function parseJson(text: string): unknown {
  return holdsLargeInteger(text) ? json.parse(text, keepInteger) : JSON.parse(text);
}

/** By the object or list that holds them, and their key there: how whole numbers are written that are written as fractions. */
export type WrittenFractions = ReadonlyMap<unknown, ReadonlyMap<string, string>>;

/**
 * As {@link parseJson}, which takes `3.0` and `3` for the same; Go takes only the latter for an integer.
 * @throws SyntaxError for what is no JSON
 */
export function parseJsonWithFractions(text: string): {
  readonly value: unknown;
  readonly fractions: WrittenFractions;
} {
  const fractions = new Map<unknown, Map<string, string>>();
  if (!FRACTION.test(text)) return { value: parseJson(text), fractions };
  const value = json.parse(text, function (this: unknown, key, each, context) {
    const { source = '' } = context;
    if (Number.isInteger(each) && !INTEGER.test(source)) {
      const there = fractions.get(this) ?? new Map<string, string>();
      fractions.set(this, there.set(key, source));
    }
    return keepInteger(key, each, context);
  });
  return { value, fractions };
}

/**
 * The value as JSON, `bigint` included; indented by `space` characters if that is given.
 * @throws TypeError for what refers to itself
 */
export function stringifyJson(value: unknown, space?: number): string {
  try {
    return space === undefined ? JSON.stringify(value) : JSON.stringify(value, undefined, space);
  } catch (error) {
    // Nothing that is asked beforehand is as cheap as this for objects without one.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, writeIntegers, space);
  }
}

/** A replacer of `JSON.stringify` that writes `bigint`, for those who call it themselves. */
export function writeIntegers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? json.rawJSON(String(value)) : value;
}

/**
 * Whether `text`, if it is JSON, may hold an integer that no double can; strings that look like it are taken for one.
 * Sixteen digits in a row cover one position in sixteen, so only these are looked at.
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

/** Whether the digits stand where a number may, are all of it, and are too many. */
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

/** What stands in the text for a value that is neither a list nor an object. */
interface SourceOfValue {
  readonly source?: string;
}

/** Parts of ECMAScript that the compiler's library does not know yet. */
const json = JSON as unknown as {
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: SourceOfValue) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};
