import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The part of the global `WebAssembly` that is used here: the types of Node.js do not have it. */
interface WasmApi {
  readonly Module: {
    new (bytes: Uint8Array): WasmModule;
    imports(module: WasmModule): { module: string; name: string }[];
  };
  readonly Instance: new (module: WasmModule, imports: WasmImports) => { readonly exports: WasmExports };
}
interface WasmModule {
  readonly isModule: never;
}
type WasmImports = Record<string, Record<string, unknown>>;
type WasmExports = Readonly<Record<string, unknown>>;

interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface WasmTable {
  get(index: number): unknown;
  grow(count: number): number;
  set(index: number, value: unknown): void;
}

const wasm = Reflect.get(globalThis, 'WebAssembly') as WasmApi;

/** A pointer into the memory of the interpreter, or the index of a function in its table. */
type Pointer = number;
type Numbers = (...args: number[]) => number;

/** The functions of Lua 5.1's C API that are used here, by their names in the manual. */
export type LuaApi = Readonly<
  Record<
    | 'lua_checkstack'
    | 'lua_close'
    | 'lua_createtable'
    | 'lua_error'
    | 'lua_gc'
    | 'lua_getfield'
    | 'lua_gettop'
    | 'lua_isnumber'
    | 'lua_insert'
    | 'lua_next'
    | 'lua_objlen'
    | 'lua_pcall'
    | 'lua_pushboolean'
    | 'lua_pushcclosure'
    | 'lua_pushlightuserdata'
    | 'lua_pushlstring'
    | 'lua_pushnil'
    | 'lua_pushnumber'
    | 'lua_pushvalue'
    | 'lua_rawget'
    | 'lua_rawgeti'
    | 'lua_rawset'
    | 'lua_rawseti'
    | 'lua_remove'
    | 'lua_setfield'
    | 'lua_setmetatable'
    | 'lua_settop'
    | 'lua_toboolean'
    | 'lua_tolstring'
    | 'lua_tonumber'
    | 'lua_type'
    | 'luaL_loadbuffer'
    | 'luaL_newstate'
    | 'luaL_openlibs'
    | 'luaL_where'
    | 'free'
    | 'malloc'
    | 'setThrew'
    | 'stackRestore'
    | 'stackSave',
    Numbers
  >
>;

export interface LuaBinary {
  readonly api: LuaApi;
  readonly memory: WasmMemory;
  /** Makes a function of the C API's type `lua_CFunction`; the result is what `lua_pushcclosure` takes. */
  addFunction(run: (state: Pointer) => number): Pointer;
}

/** The C library throws this to unwind to the innermost protected call, as `longjmp` would. */
class LongJump extends Error {}

const NO_SUCH_FILE = -44;

let compiled: WasmModule | undefined;

/**
 * Lua 5.1 as it is in C, compiled to WebAssembly: the binary of the package `wasmoon-lua5.1` without its JavaScript. It is
 * given no files, no clock and no environment.
 */
export function loadLuaBinary(): LuaBinary {
  const file = createRequire(import.meta.url).resolve('wasmoon-lua5.1/dist/liblua5.1.wasm');
  compiled ??= new wasm.Module(readFileSync(file));
  const held: { exports?: WasmExports } = {};
  const instance = new wasm.Instance(compiled, importsOf(compiled, held));
  held.exports = instance.exports;
  const { __indirect_function_table: table, __wasm_call_ctors: construct, memory } = instance.exports;
  (construct as () => void)();
  return {
    api: instance.exports as unknown as LuaApi,
    memory: memory as WasmMemory,
    addFunction(run) {
      const at = (table as WasmTable).grow(1);
      (table as WasmTable).set(at, asWasmFunction(run));
      return at;
    },
  };
}

function importsOf(module: WasmModule, held: { readonly exports?: WasmExports }): WasmImports {
  const imports: WasmImports = {};
  for (const { module: from, name } of wasm.Module.imports(module)) {
    (imports[from] ??= {})[name] = () => NO_SUCH_FILE;
  }
  const exports = (): LuaApi & { memory: WasmMemory; __indirect_function_table: WasmTable } =>
    held.exports as never;
  Object.assign((imports['env'] ??= {}), {
    _emscripten_throw_longjmp() {
      throw new LongJump();
    },
    invoke_vii(index: number, first: number, second: number) {
      const stack = exports().stackSave();
      try {
        (exports().__indirect_function_table.get(index) as Numbers)(first, second);
      } catch (error) {
        exports().stackRestore(stack);
        if (!(error instanceof LongJump)) throw error;
        exports().setThrew(1, 0);
      }
    },
    emscripten_memcpy_js(to: number, from: number, count: number) {
      new Uint8Array(exports().memory.buffer).copyWithin(to, from, from + count);
    },
    emscripten_resize_heap(wanted: number) {
      const pages = Math.ceil((wanted - exports().memory.buffer.byteLength) / 65_536);
      try {
        exports().memory.grow(pages);
        return 1;
      } catch {
        return 0;
      }
    },
    emscripten_date_now: () => 0,
    exit(code: number) {
      throw new Error(`the Lua interpreter exited with ${code}`);
    },
  });
  return imports;
}

/**
 * A module of one function `(i32) -> i32` that calls the one it imports: only functions of WebAssembly may stand in its tables.
 */
const BRIDGE = new Uint8Array([
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x06, 0x01, 0x60, 0x01, 0x7f, 0x01, 0x7f],
  ...[0x02, 0x07, 0x01, 0x01, 0x65, 0x01, 0x66, 0x00, 0x00],
  ...[0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00],
]);

let bridge: WasmModule | undefined;

function asWasmFunction(run: (state: Pointer) => number): unknown {
  bridge ??= new wasm.Module(BRIDGE);
  return new wasm.Instance(bridge, { e: { f: run } }).exports['f'];
}
