import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { RedisConnection } from './redis-connection.js';
import type { RunScriptOptions } from './stored-script.js';
import { StoredScript } from './stored-script.js';

/**
 * A script from `lua/<verb>-<number of keys>.lua` (`n` for any number) beside the adapter that owns it, or one that a
 * library brings. As in BullMQ's scripts, a line `--- @include "includes/NAME"` includes that file, without its `.lua`,
 * from the same folder.
 * @typeParam Reply what the script returns, as its file says: an integer is a number, nil and false are null. Nothing
 *   checks it at run time.
 */
export class LuaScript<Reply = unknown> {
  readonly source: string;
  readonly sha: string;
  /** The name of its file without the number of keys, or BullMQ's name; the hash of one that has neither. */
  readonly name: string;
  private readonly script: StoredScript;
  /** Absent: any number of keys. */
  readonly numberOfKeys: number | undefined;

  /**
   * @param from written as `new URL('../../base/redis/lua/acquire-1.lua', import.meta.url)`; the build replaces it by
   *   the text of the file, because a bundled program has no files beside it
   * @param flags replace those of a script that begins with `#!lua`
   */
  constructor(
    from: URL | { readonly source: string; readonly numberOfKeys?: number; readonly name?: string },
    flags?: string,
  ) {
    const { name, numberOfKeys, source } = from instanceof URL ? readScript(from) : from;
    this.numberOfKeys = numberOfKeys;
    this.source = flags === undefined ? source : source.replace(/^#!lua.*/, `#!lua flags=${flags}`);
    this.script = new StoredScript(this.source, name);
    this.sha = this.script.sha;
    this.name = this.script.name;
  }

  /** The call that {@link run} would send, for `runInOneStep`. */
  call(keys: readonly string[], args: readonly LuaArgument[] = []): LuaCall<Reply> {
    if (this.numberOfKeys !== undefined && keys.length !== this.numberOfKeys)
      throw new Error(`expected ${this.numberOfKeys} keys, got ${keys.length}`);
    return { script: this, keys, args };
  }

  async run(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly LuaArgument[] = [],
    options: RunScriptOptions = {},
  ): Promise<Reply> {
    const call = this.call(keys, args);
    return (await this.script.run(redis, call.keys, call.args, options)) as Reply;
  }
}

export type LuaArgument = string | number | Buffer;

/** A script with its keys and arguments. */
export interface LuaCall<Reply = unknown> {
  readonly script: LuaScript<Reply>;
  readonly keys: readonly string[];
  readonly args: readonly LuaArgument[];
}

function readScript(file: URL): { source: string; numberOfKeys: number | undefined; name: string } {
  const [ending, count] = /-(\d+|n)\.lua$/.exec(file.pathname) ?? [];
  if (count === undefined) throw new Error(`${file.pathname}: a script's name ends in -<number of keys>.lua`);
  const name = basename(file.pathname, ending);
  return { source: withIncludes(file), numberOfKeys: count === 'n' ? undefined : Number(count), name };
}

/** The text of a script, with included files in the place of their lines. */
function withIncludes(file: URL): string {
  return readFileSync(file, 'utf8').replaceAll(/^--- @include "(.+)"$/gm, (_line, name: string) =>
    readFileSync(new URL(`${name}.lua`, file), 'utf8').trimEnd(),
  );
}
