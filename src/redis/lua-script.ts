import { readFileSync } from 'node:fs';
import type { RedisConnection } from './redis-connection.js';
import { StoredScript } from './stored-script.js';

/** A script of `lua/<verb>-<number of keys>.lua`, beside the adapter that owns it. */
export class LuaScript {
  readonly source: string;
  private readonly script: StoredScript;
  private readonly numberOfKeys: number;

  /** @param file for example `new URL('./lua/acquire-1.lua', import.meta.url)` */
  constructor(file: URL) {
    const count = /-(\d+)\.lua$/.exec(file.pathname)?.[1];
    if (count === undefined)
      throw new Error(`${file.pathname}: a script's name ends in -<number of keys>.lua`);
    this.numberOfKeys = Number(count);
    this.source = readFileSync(file, 'utf8');
    this.script = new StoredScript(this.source);
  }

  /** What {@link run} would send, for {@link LuaScriptPair}. */
  call(keys: readonly string[], args: readonly (string | number)[] = []): LuaCall {
    if (keys.length !== this.numberOfKeys)
      throw new Error(`expected ${this.numberOfKeys} keys, got ${keys.length}`);
    return { script: this, keys, args };
  }

  run(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly (string | number)[] = [],
  ): Promise<unknown> {
    const call = this.call(keys, args);
    return this.script.run(redis, call.keys, call.args);
  }
}

/** A script with what it is to work on. */
export interface LuaCall {
  readonly script: LuaScript;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}
