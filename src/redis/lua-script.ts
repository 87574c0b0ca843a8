import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RedisConnection } from './redis-connection.js';

/**
 * A script of `lua/<verb>-<number of keys>.lua`, beside the adapter that owns it. Sent by its hash; a server that
 * has forgotten it (restart, failover) is sent the text again.
 */
export class LuaScript {
  private readonly source: string;
  private readonly sha: string;
  private readonly numberOfKeys: number;

  /** @param file for example `new URL('./lua/acquire-1.lua', import.meta.url)` */
  constructor(file: URL) {
    const count = /-(\d+)\.lua$/.exec(file.pathname)?.[1];
    if (count === undefined)
      throw new Error(`${file.pathname}: a script's name ends in -<number of keys>.lua`);
    this.numberOfKeys = Number(count);
    this.source = readFileSync(file, 'utf8');
    this.sha = createHash('sha1').update(this.source).digest('hex');
  }

  async run(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly (string | number)[] = [],
  ): Promise<unknown> {
    if (keys.length !== this.numberOfKeys)
      throw new Error(`expected ${this.numberOfKeys} keys, got ${keys.length}`);
    try {
      return await redis.evalsha(this.sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(this.source, keys.length, ...keys, ...args);
    }
  }
}
