import { errorMessage } from '@rollkeeper/machinery/errors';
import { checkJsonText, endOfString } from './document-limits.js';
import { goQuoteChar, parseJson, parseJsonWithFractions } from '@rollkeeper/machinery/kubernetes';

/** A text that is no JSON, in the words of Go's `encoding/json`. */
export class JsonSyntaxError extends Error {}

/**
 * Number of `key:` pairs in `text`, which must be valid JSON. If it exceeds that of the parsed object, there is a
 * duplicate key. A single pass, cheap enough for every request.
 */
export function countKeys(text: string): number {
  let keys = 0;
  let at = text.indexOf('"');
  while (at >= 0) {
    let end = endOfString(text, at);
    do end++;
    while (text.charCodeAt(end) <= 32);
    if (text.charCodeAt(end) === 58) keys++;
    at = text.indexOf('"', end);
  }
  return keys;
}

/**
 * Reads a text that came from outside.
 * @throws JsonSyntaxError with Go's message for what is no JSON
 * @throws DocumentLimitError for what is too much
 */
export function readJsonText(text: string): unknown {
  return read(text, parseJson);
}

/** The same, with what is written as a fraction. */
export function readJsonWithFractions(text: string): ReturnType<typeof parseJsonWithFractions> {
  return read(text, parseJsonWithFractions);
}

function read<T>(text: string, parse: (text: string) => T): T {
  checkJsonText(text);
  try {
    return parse(text);
  } catch (error) {
    inspectJson(text);
    throw new JsonSyntaxError(errorMessage(error), { cause: error });
  }
}

/** A value as it is written: with the position of its first character, and with every key of an object, repeated ones included. */
export type WrittenJson = {
  readonly start: number;
  /** The position after its last character. */
  readonly end: number;
} & (
  | { readonly kind: 'object'; readonly entries: readonly WrittenEntry[] }
  | { readonly kind: 'array'; readonly items: readonly WrittenJson[] }
  | { readonly kind: 'scalar' }
);

export interface WrittenEntry {
  readonly key: string;
  /** Whether the object has the key further above already. */
  readonly isRepeated: boolean;
  readonly value: WrittenJson;
}

/**
 * Parses `text` slowly, to describe its error, or what it has twice.
 * @throws JsonSyntaxError with Go's message
 */
export function inspectJson(text: string): WrittenJson {
  return new JsonInspector(text).document();
}

/**
 * Calls `found` for each key that is repeated within one object, in the order of the text.
 * @param found gets the path of the key in Kubernetes' notation
 */
export function eachRepeatedKey(
  written: WrittenJson,
  found: (path: string, entry: WrittenEntry) => void,
  path = '',
): void {
  if (written.kind === 'array')
    written.items.forEach((item, index) => eachRepeatedKey(item, found, `${path}[${index}]`));
  if (written.kind !== 'object') return;
  for (const entry of written.entries) {
    const below = path === '' ? entry.key : `${path}.${entry.key}`;
    if (entry.isRepeated) found(below, entry);
    eachRepeatedKey(entry.value, found, below);
  }
}

const LITERALS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

class JsonInspector {
  private at = 0;

  constructor(private readonly text: string) {}

  document(): WrittenJson {
    const written = this.value();
    this.skipSpace();
    if (this.at < this.text.length) this.fail('after top-level value');
    return written;
  }

  private value(): WrittenJson {
    this.skipSpace();
    const start = this.at;
    const char = this.text[start] ?? '';
    if (char === '{') return { kind: 'object', start, entries: this.entries(), end: this.at };
    if (char === '[') return { kind: 'array', start, items: this.items(), end: this.at };
    if (char === '"') this.string();
    else if (LITERALS[char]) this.literal(LITERALS[char]);
    else this.number();
    return { kind: 'scalar', start, end: this.at };
  }

  private entries(): WrittenEntry[] {
    const seen = new Set<string>();
    const entries: WrittenEntry[] = [];
    this.at++;
    if (this.next() === '}') return this.ended(entries);
    for (;;) {
      if (this.next() !== '"') this.fail('looking for beginning of object key string');
      const key = this.string();
      if (this.next() !== ':') this.fail('after object key');
      this.at++;
      entries.push({ key, isRepeated: seen.has(key), value: this.value() });
      seen.add(key);
      const end = this.next();
      if (end === '}') return this.ended(entries);
      if (end !== ',') this.fail('after object key:value pair');
      this.at++;
    }
  }

  private items(): WrittenJson[] {
    const items: WrittenJson[] = [];
    this.at++;
    if (this.next() === ']') return this.ended(items);
    for (;;) {
      items.push(this.value());
      const end = this.next();
      if (end === ']') return this.ended(items);
      if (end !== ',') this.fail('after array element');
      this.at++;
    }
  }

  private ended<T>(parts: T): T {
    this.at++;
    return parts;
  }

  private string(): string {
    const start = this.at;
    for (this.at++; this.text[this.at] !== '"'; this.at++) {
      if (this.text.charCodeAt(this.at) < 32) this.fail('in string literal');
      if (this.text[this.at] === '\\') this.escape();
      if (this.at >= this.text.length) this.fail('in string literal');
    }
    this.at++;
    return parseJson(this.text.slice(start, this.at)) as string;
  }

  private escape(): void {
    this.at++;
    if (this.text[this.at] === 'u') {
      for (let digit = 0; digit < 4; digit++) {
        this.at++;
        if (!/[0-9a-fA-F]/.test(this.text[this.at] ?? '')) this.fail('in \\u hexadecimal character escape');
      }
    } else if (!'"\\/bfnrt'.includes(this.text[this.at] ?? ' ')) this.fail('in string escape code');
  }

  private literal(word: string): void {
    for (let index = 1; index < word.length; index++) {
      this.at++;
      if (this.text[this.at] !== word[index]) this.fail(`in literal ${word} (expecting '${word[index]}')`);
    }
    this.at++;
  }

  private number(): void {
    NUMBER.lastIndex = this.at;
    if (NUMBER.test(this.text)) {
      this.at = NUMBER.lastIndex;
      return;
    }
    if (this.text[this.at] === '-') {
      this.at++;
      this.fail('in numeric literal');
    }
    this.fail('looking for beginning of value');
  }

  private next(): string | undefined {
    this.skipSpace();
    return this.text[this.at];
  }

  private skipSpace(): void {
    while (' \t\r\n'.includes(this.text[this.at] ?? 'x')) this.at++;
  }

  private fail(where: string): never {
    const char = this.text[this.at];
    if (char === undefined) throw new JsonSyntaxError('unexpected end of JSON input');
    throw new JsonSyntaxError(`invalid character ${goQuoteChar(char)} ${where}`);
  }
}
