import type { LuaApi, LuaBinary } from './lua-binary.js';
import { loadLuaBinary } from './lua-binary.js';

/** The numbers that the C API gives to types. */
export const LUA_TYPE = {
  nil: 0,
  boolean: 1,
  lightUserdata: 2,
  number: 3,
  string: 4,
  table: 5,
  function: 6,
} as const;

const GLOBALS = -10_002;
const MULTIPLE_RESULTS = -1;
const FIRST_SCRATCH_BYTES = 65_536;

/**
 * One interpreter and its stack, as the C API has it: positions count from 1, or from -1 downwards. Text is binary, a character for
 * each byte.
 */
export class LuaStack {
  readonly api: LuaApi;
  private readonly binary: LuaBinary;
  /** The state that the function which runs was called with: a coroutine's, or the main one. */
  private state: number;
  private bytes: Buffer;
  private scratch: number;
  private scratchBytes = FIRST_SCRATCH_BYTES;
  private readonly lengthAt: number;

  constructor() {
    this.binary = loadLuaBinary();
    this.api = this.binary.api;
    this.bytes = Buffer.from(this.binary.memory.buffer);
    this.scratch = this.api.malloc(this.scratchBytes);
    this.lengthAt = this.api.malloc(4);
    this.state = this.api.luaL_newstate();
    this.api.luaL_openlibs(this.state);
  }

  get top(): number {
    return this.api.lua_gettop(this.state);
  }

  set top(count: number) {
    this.api.lua_settop(this.state, count);
  }

  pop(count = 1): void {
    this.api.lua_settop(this.state, -count - 1);
  }

  typeOf(at: number): number {
    return this.api.lua_type(this.state, at);
  }

  /** Undefined for what is neither a string nor a number. Changes a number on the stack to a string. */
  textAt(at: number): string | undefined {
    const start = this.api.lua_tolstring(this.state, at, this.lengthAt);
    if (start === 0) return undefined;
    const { view } = this;
    return view.toString('latin1', start, start + view.readUInt32LE(this.lengthAt));
  }

  numberAt(at: number): number {
    return this.api.lua_tonumber(this.state, at);
  }

  isNumberAt(at: number): boolean {
    return this.api.lua_isnumber(this.state, at) === 1;
  }

  booleanAt(at: number): boolean {
    return this.api.lua_toboolean(this.state, at) === 1;
  }

  lengthOf(at: number): number {
    return this.api.lua_objlen(this.state, at);
  }

  pushText(text: string): void {
    const start = this.write(text);
    this.api.lua_pushlstring(this.state, start, text.length);
  }

  pushNumber(value: number): void {
    this.api.lua_pushnumber(this.state, value);
  }

  pushBoolean(value: boolean): void {
    this.api.lua_pushboolean(this.state, value ? 1 : 0);
  }

  pushNil(): void {
    this.api.lua_pushnil(this.state);
  }

  /** The value that JSON's null is read as. */
  pushNullPointer(): void {
    this.api.lua_pushlightuserdata(this.state, 0);
  }

  pushCopy(at: number): void {
    this.api.lua_pushvalue(this.state, at);
  }

  pushTable(): void {
    this.api.lua_createtable(this.state, 0, 0);
  }

  /** @param run takes its arguments from the stack, pushes its results and returns their number */
  pushFunction(run: () => number): void {
    const index = this.binary.addFunction((state) => {
      const before = this.state;
      this.state = state;
      try {
        return run();
      } catch (error) {
        if (error instanceof LuaError) return this.raise(error);
        throw error;
      } finally {
        this.state = before;
      }
    });
    this.api.lua_pushcclosure(this.state, index, 0);
  }

  /** `table[key] = value on top`, without metamethods; takes the value. */
  setField(table: number, key: string): void {
    const absolute = table < 0 && table > GLOBALS ? this.top + table + 1 : table;
    this.pushText(key);
    this.api.lua_insert(this.state, -2);
    this.api.lua_rawset(this.state, absolute);
  }

  setGlobal(name: string): void {
    this.setField(GLOBALS, name);
  }

  pushGlobal(name: string): void {
    this.pushText(name);
    this.api.lua_rawget(this.state, GLOBALS);
  }

  pushGlobals(): void {
    this.api.lua_pushvalue(this.state, GLOBALS);
  }

  setItem(table: number, index: number): void {
    this.api.lua_rawseti(this.state, table, index);
  }

  pushItem(table: number, index: number): void {
    this.api.lua_rawgeti(this.state, table, index);
  }

  pushField(table: number, key: string): void {
    const absolute = table < 0 ? this.top + table + 1 : table;
    this.pushText(key);
    this.api.lua_rawget(this.state, absolute);
  }

  /** `table[key below] = value on top`; takes both. */
  setPair(table: number): void {
    this.api.lua_rawset(this.state, table);
  }

  setMetatable(at: number): void {
    this.api.lua_setmetatable(this.state, at);
  }

  /** Replaces the key on top by the next key and its value; false, without the key, at the end. */
  next(table: number): boolean {
    return this.api.lua_next(this.state, table) === 1;
  }

  ensure(slots: number): void {
    if (this.api.lua_checkstack(this.state, slots) === 0) throw new LuaError('stack overflow');
  }

  /** Pushes the compiled function, or what is wrong with the text. */
  compile(source: string, name: string): boolean {
    const nameAt = this.api.malloc(name.length + 1);
    this.view.write(`${name}\0`, nameAt, 'latin1');
    const start = this.write(source);
    const status = this.api.luaL_loadbuffer(this.state, start, source.length, nameAt);
    this.api.free(nameAt);
    return status === 0;
  }

  /** Calls the function below its arguments. Pushes the one result, or the error. @param handler position of the function that is given errors */
  callProtected(argumentCount: number, handler = 0, results = 1): boolean {
    const before = this.state;
    try {
      return this.api.lua_pcall(this.state, argumentCount, results, handler) === 0;
    } finally {
      this.state = before;
    }
  }

  /** Moves the value on top to `at`. */
  insert(at: number): void {
    this.api.lua_insert(this.state, at);
  }

  remove(at: number): void {
    this.api.lua_remove(this.state, at);
  }

  collectGarbage(): void {
    this.api.lua_gc(this.state, 2, 0);
  }

  private raise(error: LuaError): number {
    if (error.push) {
      error.push(this);
    } else {
      this.api.luaL_where(this.state, 1);
      const where = this.textAt(-1) ?? '';
      this.pop();
      this.pushText(where + error.message);
    }
    return this.api.lua_error(this.state);
  }

  private get view(): Buffer {
    const { buffer } = this.binary.memory;
    if (this.bytes.buffer !== buffer) this.bytes = Buffer.from(buffer);
    return this.bytes;
  }

  private write(text: string): number {
    if (text.length > this.scratchBytes) {
      this.api.free(this.scratch);
      this.scratchBytes = 2 * text.length;
      this.scratch = this.api.malloc(this.scratchBytes);
    }
    this.view.write(text, this.scratch, 'latin1');
    return this.scratch;
  }
}

/** Thrown by a function that Lua called: the error that its caller in Lua gets. */
export class LuaError extends Error {
  /** @param push pushes the error; absent: the message, with the place of the caller before it */
  constructor(
    message: string,
    readonly push?: (stack: LuaStack) => void,
  ) {
    super(message);
  }
}

export { MULTIPLE_RESULTS };
