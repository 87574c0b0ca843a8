import { createHash } from 'node:crypto';
import { decodeJson } from './lua-cjson-decode.js';
import { encodeJson } from './lua-cjson-encode.js';
import { packMessage, unpackMessages } from './lua-cmsgpack.js';
import { asInC, pushError } from './lua-replies.js';
import type { LuaStack } from './lua-stack.js';
import { LUA_TYPE, LuaError } from './lua-stack.js';

/** Redis takes these away, or they would reach the machine. */
const REMOVED = [
  'io',
  'package',
  'require',
  'module',
  'loadfile',
  'dofile',
  'print',
  'newproxy',
  'debug',
  'os',
];

type Functions = Readonly<Record<string, (stack: LuaStack) => number>>;

/** Gives scripts the libraries that Redis gives them: `bit`, `cjson`, `cmsgpack` and those of Lua that it leaves. */
export function installLibraries(stack: LuaStack): void {
  for (const name of REMOVED) {
    stack.pushNil();
    stack.setGlobal(name);
  }
  install(stack, 'bit', bitLibrary());
  install(stack, 'cjson', CJSON);
  stack.pushGlobal('cjson');
  stack.pushNullPointer();
  stack.setField(-2, 'null');
  stack.pop();
  install(stack, 'cmsgpack', CMSGPACK);
}

export function install(stack: LuaStack, name: string, functions: Functions): void {
  stack.pushTable();
  for (const [each, run] of Object.entries(functions)) {
    stack.pushFunction(() => run(stack));
    stack.setField(-2, each);
  }
  stack.setGlobal(name);
}

const CJSON: Functions = {
  encode(stack) {
    if (stack.top !== 1) throw new LuaError("bad argument #1 to 'encode' (expected 1 argument)");
    stack.pushText(encodeJson(stack, 1));
    return 1;
  },
  decode(stack) {
    if (stack.top !== 1) throw new LuaError("bad argument #1 to 'decode' (expected 1 argument)");
    decodeJson(stack, stack.textAt(1) ?? argument('decode', stack));
    return 1;
  },
};

const CMSGPACK: Functions = {
  pack(stack) {
    const count = stack.top;
    if (count === 0) throw new LuaError("bad argument #0 to 'pack' (MessagePack pack needs input.)");
    const parts: string[] = [];
    for (let at = 1; at <= count; at++) parts.push(packMessage(stack, at));
    stack.pushText(parts.join(''));
    return 1;
  },
  unpack(stack) {
    return unpackMessages(stack, stack.textAt(1) ?? argument('unpack', stack));
  },
};

/** The functions of the table `redis` that need no server. */
export const REDIS_FUNCTIONS: Functions = {
  sha1hex(stack) {
    if (stack.top !== 1) throw ofRedis('wrong number of arguments');
    const hash = createHash('sha1').update(stack.textAt(1) ?? '', 'latin1');
    stack.pushText(hash.digest('hex'));
    return 1;
  },
  error_reply(stack) {
    const text = stack.top === 1 && stack.typeOf(1) === LUA_TYPE.string ? stack.textAt(1) : undefined;
    pushError(stack, text === undefined ? 'ERR wrong number or type of arguments' : errorOf(text));
    return 1;
  },
  status_reply(stack) {
    const text = stack.top === 1 && stack.typeOf(1) === LUA_TYPE.string ? stack.textAt(1) : undefined;
    if (text === undefined) {
      pushError(stack, 'ERR wrong number or type of arguments');
      return 1;
    }
    stack.pushTable();
    stack.pushText(text);
    stack.setField(-2, 'ok');
    return 1;
  },
  replicate_commands(stack) {
    stack.pushBoolean(true);
    return 1;
  },
  log: () => 0,
};

/** An error of the table `redis`: its caller gets a table. */
export function ofRedis(message: string): LuaError {
  return new LuaError(message, (stack) => pushError(stack, `ERR ${message}`));
}

/** The first word is the code; a text of one word has none. */
function errorOf(text: string): string {
  const bare = withoutLineEnds(asInC(text.startsWith('-') ? text.slice(1) : text));
  return bare.includes(' ') ? bare : `ERR ${bare}`;
}

/** Without carriage returns and line feeds at both ends. */
function withoutLineEnds(text: string): string {
  const isEnd = (sign: string | undefined): boolean => sign === '\r' || sign === '\n';
  let [from, to] = [0, text.length];
  while (from < to && isEnd(text[from])) from += 1;
  while (to > from && isEnd(text[to - 1])) to -= 1;
  return text.slice(from, to);
}

function bitLibrary(): Functions {
  return Object.fromEntries(
    Object.entries(BIT_FUNCTIONS).map(([name, run]) => [
      name,
      (stack: LuaStack) => {
        const values: number[] = [];
        for (let at = 1; at <= stack.top; at++) values.push(toBits(stack.numberAt(at)));
        const result = run(...values);
        if (typeof result === 'string') stack.pushText(result);
        else stack.pushNumber(result);
        return 1;
      },
    ]),
  );
}

function argument(name: string, stack: LuaStack): never {
  const found = Object.keys(LUA_TYPE)[stack.typeOf(1)] ?? 'no value';
  throw new LuaError(`bad argument #1 to '${name}' (string expected, got ${found})`);
}

/** The library `bit` on 32-bit integers with a sign. Source: bitop.luajit.org. */
const BIT_FUNCTIONS: Readonly<Record<string, (...values: number[]) => number | string>> = {
  tobit: (value = 0) => value,
  bnot: (value = 0) => ~value,
  band: (...values) => values.reduce((left, right) => left & right),
  bor: (...values) => values.reduce((left, right) => left | right),
  bxor: (...values) => values.reduce((left, right) => left ^ right),
  lshift: (value = 0, count = 0) => value << (count & 31),
  rshift: (value = 0, count = 0) => (value >>> (count & 31)) | 0,
  arshift: (value = 0, count = 0) => value >> (count & 31),
  rol: (value = 0, count = 0) => rotate(value, count),
  ror: (value = 0, count = 0) => rotate(value, -count),
  bswap: (value = 0) => (value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24),
  tohex(value = 0, digits = 8) {
    const text = (value >>> 0)
      .toString(16)
      .padStart(8, '0')
      .slice(-Math.min(Math.abs(digits), 8));
    return digits < 0 ? text.toUpperCase() : text;
  },
};

/** A number of Lua as 32 bits with a sign: rounded to the nearest integer, of two the even one. */
function toBits(value: number): number {
  if (!Number.isFinite(value)) return 0;
  const floor = Math.floor(value);
  const rest = value - floor;
  const isUp = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0);
  return Number(BigInt.asIntN(32, BigInt(isUp ? floor + 1 : floor)));
}

function rotate(value: number, count: number): number {
  const by = count & 31;
  return (value << by) | (by === 0 ? 0 : value >>> (32 - by));
}
