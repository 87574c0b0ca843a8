import { readFileSync } from 'node:fs';
import type { RedisConnection } from './redis-connection.js';
import { StoredScript } from './stored-script.js';

/** A script of `lua/<verb>-<number of keys>.lua`, beside the adapter that owns it, or one that a library brings. */
export class LuaScript {
  readonly source: string;
  readonly sha: string;
  private readonly script: StoredScript;
  private readonly numberOfKeys: number;

  /** @param from for example `new URL('./lua/acquire-1.lua', import.meta.url)` */
  constructor(from: URL | { readonly source: string; readonly numberOfKeys: number }) {
    const { numberOfKeys, source } = from instanceof URL ? readScript(from) : from;
    this.numberOfKeys = numberOfKeys;
    this.source = source;
    this.script = new StoredScript(source);
    this.sha = this.script.sha;
  }

  /** What {@link run} would send, for `runInOneStep`. */
  call(keys: readonly string[], args: readonly LuaArgument[] = []): LuaCall {
    if (keys.length !== this.numberOfKeys)
      throw new Error(`expected ${this.numberOfKeys} keys, got ${keys.length}`);
    return { script: this, keys, args };
  }

  run(redis: RedisConnection, keys: readonly string[], args: readonly LuaArgument[] = []): Promise<unknown> {
    const call = this.call(keys, args);
    return this.script.run(redis, call.keys, call.args);
  }
}

export type LuaArgument = string | number | Buffer;

/** A script with what it is to work on. */
export interface LuaCall {
  readonly script: LuaScript;
  readonly keys: readonly string[];
  readonly args: readonly LuaArgument[];
}

function readScript(file: URL): { source: string; numberOfKeys: number } {
  const count = /-(\d+)\.lua$/.exec(file.pathname)?.[1];
  if (count === undefined) throw new Error(`${file.pathname}: a script's name ends in -<number of keys>.lua`);
  return { source: readFileSync(file, 'utf8'), numberOfKeys: Number(count) };
}
