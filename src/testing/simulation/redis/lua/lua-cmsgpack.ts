import type { LuaStack } from './lua-stack.js';
import { LUA_TYPE, LuaError } from './lua-stack.js';

/** Deeper tables are packed as nil. */
const DEEPEST = 16;
const INT64_LIMIT = 2 ** 63;

/** `cmsgpack.pack` of one value, as Redis' cmsgpack.c does it: whole numbers as integers, others as the shortest exact float. */
export function packMessage(stack: LuaStack, at: number, level = 0): string {
  const table = at < 0 ? stack.top + at + 1 : at;
  switch (stack.typeOf(table)) {
    case LUA_TYPE.string:
      return packText(stack.textAt(table) ?? '');
    case LUA_TYPE.boolean:
      return stack.booleanAt(table) ? '\xc3' : '\xc2';
    case LUA_TYPE.number:
      return packNumber(stack.numberAt(table));
    case LUA_TYPE.table:
      if (level === DEEPEST) return '\xc0';
      stack.ensure(4);
      return isArray(stack, table) ? packArray(stack, table, level) : packMap(stack, table, level);
    default:
      return '\xc0';
  }
}

function packArray(stack: LuaStack, table: number, level: number): string {
  const length = stack.lengthOf(table);
  let text = header(length, { few: 0x90, most: 15, two: 0xdc });
  for (let index = 1; index <= length; index++) {
    stack.pushItem(table, index);
    text += packMessage(stack, -1, level + 1);
    stack.pop();
  }
  return text;
}

function packMap(stack: LuaStack, table: number, level: number): string {
  const parts: string[] = [];
  stack.pushNil();
  while (stack.next(table)) {
    // A copy: a number that is read as text would change the key that the walk goes on from.
    stack.pushCopy(-2);
    parts.push(packMessage(stack, -1, level + 1) + packMessage(stack, -2, level + 1));
    stack.pop(2);
  }
  return header(parts.length, { few: 0x80, most: 15, two: 0xde }) + parts.join('');
}

/** All keys are the numbers from 1 on, or texts of numbers; an empty table is an array. */
function isArray(stack: LuaStack, table: number): boolean {
  let last = 0;
  let count = 0;
  stack.pushNil();
  while (stack.next(table)) {
    stack.pop();
    const key = stack.isNumberAt(-1) ? stack.numberAt(-1) : 0;
    if (key <= 0 || !Number.isInteger(key)) {
      stack.pop();
      return false;
    }
    last = Math.max(last, key);
    count += 1;
  }
  return last === count;
}

function header(length: number, { few, most, two }: { few: number; most: number; two: number }): string {
  if (length <= most) return String.fromCharCode(few | length);
  return length <= 0xffff ? byte(two) + unsigned(length, 2) : byte(two + 1) + unsigned(length, 4);
}

function packText(text: string): string {
  const { length } = text;
  if (length < 32) return byte(0xa0 | length) + text;
  if (length <= 0xff) return byte(0xd9) + byte(length) + text;
  return (length <= 0xffff ? byte(0xda) + unsigned(length, 2) : byte(0xdb) + unsigned(length, 4)) + text;
}

function packNumber(value: number): string {
  if (Number.isInteger(value) && value >= -INT64_LIMIT && value < INT64_LIMIT) return packInteger(value);
  const bytes = Buffer.alloc(8);
  if (Object.is(Math.fround(value), value)) {
    bytes.writeFloatBE(value);
    return byte(0xca) + bytes.toString('latin1', 0, 4);
  }
  bytes.writeDoubleBE(value);
  return byte(0xcb) + bytes.toString('latin1', 0, 8);
}

function packInteger(value: number): string {
  if (value >= 0) {
    if (value <= 127) return byte(value);
    if (value <= 0xff) return byte(0xcc) + unsigned(value, 1);
    if (value <= 0xffff) return byte(0xcd) + unsigned(value, 2);
    return value <= 0xffffffff ? byte(0xce) + unsigned(value, 4) : byte(0xcf) + signed64(value);
  }
  if (value >= -32) return byte(value & 0xff);
  if (value >= -128) return byte(0xd0) + byte(value & 0xff);
  if (value >= -32_768) return byte(0xd1) + unsigned(value & 0xffff, 2);
  return value >= -2_147_483_648 ? byte(0xd2) + unsigned(value >>> 0, 4) : byte(0xd3) + signed64(value);
}

function byte(value: number): string {
  return String.fromCharCode(value);
}

function unsigned(value: number, size: number): string {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes.toString('latin1', 0, size);
}

function signed64(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes.toString('latin1', 0, 8);
}

/** `cmsgpack.unpack`: pushes every message of the text. @returns how many */
export function unpackMessages(stack: LuaStack, text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  const reader = new MessageReader(stack, bytes);
  let count = 0;
  for (; !reader.isAtEnd; count++) {
    stack.ensure(4);
    reader.push();
  }
  return count;
}

class MessageReader {
  private at = 0;

  constructor(
    private readonly stack: LuaStack,
    private readonly bytes: Buffer,
  ) {}

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  push(): void {
    const kind = this.take(1).readUInt8();
    if (kind <= 0x7f) return this.stack.pushNumber(kind);
    if (kind >= 0xe0) return this.stack.pushNumber(kind - 256);
    if (kind >= 0xa0 && kind <= 0xbf) return this.pushText(kind & 0x1f);
    if (kind >= 0x90 && kind <= 0x9f) return this.pushArray(kind & 0xf);
    if (kind >= 0x80 && kind <= 0x8f) return this.pushMap(kind & 0xf);
    this.pushTagged(kind);
  }

  private pushTagged(kind: number): void {
    const { stack } = this;
    if (kind === 0xc0) return stack.pushNil();
    if (kind === 0xc2 || kind === 0xc3) return stack.pushBoolean(kind === 0xc3);
    if (kind === 0xca) return stack.pushNumber(this.take(4).readFloatBE());
    if (kind === 0xcb) return stack.pushNumber(this.take(8).readDoubleBE());
    if (kind >= 0xcc && kind <= 0xd3) return stack.pushNumber(this.readInteger(kind));
    if (kind >= 0xd9 && kind <= 0xdb) return this.pushText(this.readLength(2 ** (kind - 0xd9)));
    if (kind === 0xdc || kind === 0xdd) return this.pushArray(this.readLength(kind === 0xdc ? 2 : 4));
    if (kind === 0xde || kind === 0xdf) return this.pushMap(this.readLength(kind === 0xde ? 2 : 4));
    throw new LuaError('Bad data format in input.');
  }

  private readInteger(kind: number): number {
    const isSigned = kind >= 0xd0;
    const size = 2 ** (kind - (isSigned ? 0xd0 : 0xcc));
    const part = this.take(size);
    if (size === 8) return Number(isSigned ? part.readBigInt64BE() : part.readBigUInt64BE());
    return isSigned ? part.readIntBE(0, size) : part.readUIntBE(0, size);
  }

  private readLength(size: number): number {
    return this.take(size).readUIntBE(0, size);
  }

  private pushText(length: number): void {
    this.stack.pushText(this.take(length).toString('latin1'));
  }

  private pushArray(length: number): void {
    this.stack.pushTable();
    this.stack.ensure(4);
    const table = this.stack.top;
    for (let index = 1; index <= length; index++) {
      this.push();
      this.stack.setItem(table, index);
    }
  }

  private pushMap(length: number): void {
    this.stack.pushTable();
    this.stack.ensure(4);
    const table = this.stack.top;
    for (let index = 0; index < length; index++) {
      this.push();
      this.push();
      this.stack.setPair(table);
    }
  }

  private take(size: number): Buffer {
    const end = this.at + size;
    if (end > this.bytes.length) throw new LuaError('Missing bytes in input.');
    const part = this.bytes.subarray(this.at, end);
    this.at = end;
    return part;
  }
}
