import { createHash } from 'node:crypto';
import type { RedisConnection } from './redis-connection.js';

export interface RunScriptOptions {
  /**
   * Awaited before the text is sent to a server that does not have it, because it restarted or was replaced. The script
   * does not run there earlier.
   */
  readonly beforeLoad?: () => Promise<unknown>;
}

/** A Lua script sent by its hash; a server that has lost it (restart, failover) is sent the text again. */
export class StoredScript {
  readonly sha: string;
  readonly name: string;

  /** @param name says what it does, for people and measurements @default its hash */
  constructor(
    readonly source: string,
    name?: string,
  ) {
    this.sha = createHash('sha1').update(source).digest('hex');
    this.name = name ?? this.sha;
  }

  async run(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
    { beforeLoad }: RunScriptOptions = {},
  ): Promise<unknown> {
    try {
      return await redis.evalsha(this.sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      await beforeLoad?.();
      return redis.eval(this.source, keys.length, ...keys, ...args);
    }
  }
}
