import { formatGeneral } from '../resp/format-number.js';
import type { LuaStack } from './lua-stack.js';
import { LUA_TYPE, LuaError } from './lua-stack.js';

const DIGITS = 14;
const DEEPEST = 1000;
/** A table with gaps is refused if its last index is above this and above twice the number of its entries. */
const SAFE_GAPS = 10;
const GAP_RATIO = 2;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};
/** Three signs, and the control characters of ASCII have to be escaped; bytes above ASCII stay as they are. */
const ESCAPED = /["\\/]|[^ -~\u0080-\uffff]/g;

/** `cjson.encode` as lua-cjson 2.1 does it: the value at a position as JSON. A table without entries is an object. */
export function encodeJson(stack: LuaStack, at: number, depth = 0): string {
  switch (stack.typeOf(at)) {
    case LUA_TYPE.nil:
      return 'null';
    case LUA_TYPE.lightUserdata:
      return 'null';
    case LUA_TYPE.boolean:
      return String(stack.booleanAt(at));
    case LUA_TYPE.number:
      return encodeNumber(stack.numberAt(at));
    case LUA_TYPE.string:
      return encodeText(stack.textAt(at) ?? '');
    case LUA_TYPE.table:
      return encodeTable(stack, at, depth + 1);
    default:
      throw new LuaError('Cannot serialise function: type not supported');
  }
}

function encodeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new LuaError('Cannot serialise number: must not be NaN or Inf');
  return formatGeneral(value, DIGITS);
}

function encodeText(text: string): string {
  const escaped = text.replace(
    ESCAPED,
    (sign) => ESCAPES[sign] ?? `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}

function encodeTable(stack: LuaStack, at: number, depth: number): string {
  if (depth > DEEPEST) throw new LuaError(`Cannot serialise, excessive depth (${depth})`);
  stack.ensure(4);
  const table = at < 0 ? stack.top + at + 1 : at;
  const length = arrayLength(stack, table);
  return length > 0 ? encodeArray(stack, table, length, depth) : encodeObject(stack, table, depth);
}

function encodeArray(stack: LuaStack, table: number, length: number, depth: number): string {
  const items: string[] = [];
  for (let index = 1; index <= length; index++) {
    stack.pushItem(table, index);
    items.push(encodeJson(stack, -1, depth));
    stack.pop();
  }
  return `[${items.join(',')}]`;
}

function encodeObject(stack: LuaStack, table: number, depth: number): string {
  const items: string[] = [];
  stack.pushNil();
  while (stack.next(table)) {
    const keyType = stack.typeOf(-2);
    if (keyType !== LUA_TYPE.string && keyType !== LUA_TYPE.number)
      throw new LuaError(`Cannot serialise ${typeName(keyType)}: table key must be a number or string`);
    const key =
      keyType === LUA_TYPE.number
        ? `"${encodeNumber(stack.numberAt(-2))}"`
        : encodeText(stack.textAt(-2) ?? '');
    items.push(`${key}:${encodeJson(stack, -1, depth)}`);
    stack.pop();
  }
  return `{${items.join(',')}}`;
}

/** The last index of a table whose keys are all indexes; 0 of an empty one, -1 of any other. */
function arrayLength(stack: LuaStack, table: number): number {
  let last = 0;
  let count = 0;
  stack.pushNil();
  while (stack.next(table)) {
    const key = stack.typeOf(-2) === LUA_TYPE.number ? stack.numberAt(-2) : 0;
    if (!Number.isInteger(key) || key < 1) {
      stack.pop(2);
      return -1;
    }
    last = Math.max(last, key);
    count += 1;
    stack.pop();
  }
  if (last > count * GAP_RATIO && last > SAFE_GAPS)
    throw new LuaError('Cannot serialise table: excessively sparse array');
  return last;
}

function typeName(type: number): string {
  return Object.keys(LUA_TYPE).find((name) => LUA_TYPE[name as keyof typeof LUA_TYPE] === type) ?? 'userdata';
}
