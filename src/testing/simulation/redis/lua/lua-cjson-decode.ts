import { readDouble } from '../resp/read-double.js';
import type { LuaStack } from './lua-stack.js';
import { LuaError } from './lua-stack.js';

const DEEPEST = 1000;
const NUMBER = /[-+]?(?:inf(?:inity)?|nan|0x[\da-f]+|(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)/iy;
const UNESCAPED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
  '/': '/',
};
const TOKENS: Readonly<Record<string, string>> = {
  '"': 'T_STRING',
  '{': 'T_OBJ_BEGIN',
  '}': 'T_OBJ_END',
  '[': 'T_ARR_BEGIN',
  ']': 'T_ARR_END',
  ':': 'T_COLON',
  ',': 'T_COMMA',
};
const PLAIN = /[^"\\]*/y;
const SPACE = /[ \t\n\r]*/y;
const LITERALS: readonly (readonly [string, (stack: LuaStack) => void])[] = [
  ['true', (stack) => stack.pushBoolean(true)],
  ['false', (stack) => stack.pushBoolean(false)],
  ['null', (stack) => stack.pushNullPointer()],
];

/** `cjson.decode` as lua-cjson 2.1 does it: pushes what the text holds. Null becomes a value, not nil. */
export function decodeJson(stack: LuaStack, text: string): void {
  if (text.length >= 2 && text.slice(0, 2).includes('\0'))
    throw new LuaError('JSON parser does not support UTF-16 or UTF-32');
  const reader = new JsonReader(stack, text);
  reader.pushValue('value', 0);
  reader.expectEnd();
}

class JsonReader {
  private at = 0;

  constructor(
    private readonly stack: LuaStack,
    private readonly text: string,
  ) {}

  pushValue(expected: string, depth: number): void {
    this.skipSpace();
    const sign = this.text[this.at];
    if (sign === '"') return this.stack.pushText(this.readText());
    if (sign === '{') return this.pushObject(depth + 1);
    if (sign === '[') return this.pushArray(depth + 1);
    for (const [word, push] of LITERALS) {
      if (!this.text.startsWith(word, this.at)) continue;
      this.at += word.length;
      return push(this.stack);
    }
    NUMBER.lastIndex = this.at;
    const [number] = NUMBER.exec(this.text) ?? [];
    if (number === undefined) return this.fail(expected);
    this.at += number.length;
    this.stack.pushNumber(readDouble(number));
  }

  expectEnd(): void {
    this.skipSpace();
    if (this.at < this.text.length) this.fail('the end');
  }

  private pushObject(depth: number): void {
    this.enter(depth);
    const { stack } = this;
    stack.pushTable();
    const table = stack.top;
    if (this.take('}')) return;
    for (;;) {
      this.skipSpace();
      if (this.text[this.at] !== '"') this.fail('object key string');
      stack.pushText(this.readText());
      if (!this.take(':')) this.fail('colon');
      this.pushValue('value', depth);
      stack.setPair(table);
      if (this.take('}')) return;
      if (!this.take(',')) this.fail('comma or object end');
    }
  }

  private pushArray(depth: number): void {
    this.enter(depth);
    const { stack } = this;
    stack.pushTable();
    const table = stack.top;
    if (this.take(']')) return;
    for (let index = 1; ; index++) {
      this.pushValue('value', depth);
      stack.setItem(table, index);
      if (this.take(']')) return;
      if (!this.take(',')) this.fail('comma or array end');
    }
  }

  private enter(depth: number): void {
    this.at += 1;
    if (depth > DEEPEST) throw new LuaError(`Found too many nested data structures (${depth})`);
    this.stack.ensure(4);
  }

  private readText(): string {
    const parts: string[] = [];
    this.at += 1;
    for (;;) {
      PLAIN.lastIndex = this.at;
      const [plain = ''] = PLAIN.exec(this.text) ?? [];
      parts.push(plain);
      this.at += plain.length;
      const sign = this.text[this.at];
      if (sign === undefined) this.fail('value', 'unexpected end of string');
      this.at += 1;
      if (sign === '"') return parts.join('');
      parts.push(this.readEscape());
    }
  }

  private readEscape(): string {
    const sign = this.text[this.at] ?? '';
    this.at += 1;
    if (sign !== 'u') return UNESCAPED[sign] ?? this.fail('value', 'invalid escape code');
    let code = this.readUnit();
    if (code >= 0xd800 && code < 0xdc00 && this.text.startsWith('\\u', this.at)) {
      this.at += 2;
      code = 0x10000 + ((code - 0xd800) << 10) + (this.readUnit() - 0xdc00);
    }
    return Buffer.from(String.fromCodePoint(code), 'utf8').toString('latin1');
  }

  private readUnit(): number {
    const digits = this.text.slice(this.at, this.at + 4);
    this.at += 4;
    return /^[\da-f]{4}$/i.test(digits)
      ? Number.parseInt(digits, 16)
      : this.fail('value', 'invalid unicode escape code');
  }

  private take(sign: string): boolean {
    this.skipSpace();
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  private skipSpace(): void {
    SPACE.lastIndex = this.at;
    this.at += SPACE.exec(this.text)?.[0].length ?? 0;
  }

  private fail(expected: string, found?: string): never {
    throw new LuaError(
      `Expected ${expected} but found ${found ?? this.tokenName()} at character ${this.at + 1}`,
    );
  }

  private tokenName(): string {
    const sign = this.text[this.at];
    if (sign === undefined || sign === '\0') return 'T_END';
    const word = LITERALS.find(([each]) => this.text.startsWith(each, this.at));
    if (word) return word[0] === 'null' ? 'T_NULL' : 'T_BOOLEAN';
    NUMBER.lastIndex = this.at;
    return TOKENS[sign] ?? (NUMBER.test(this.text) ? 'T_NUMBER' : 'invalid token');
  }
}
