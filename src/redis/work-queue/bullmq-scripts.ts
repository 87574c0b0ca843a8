import type { LuaArgument, LuaCall, RedisConnection } from '../connection/index.js';
import { LuaScript } from '../connection/index.js';

/** The scripts that BullMQ defines on a connection, so that they can be sent together with ours. */
export class BullMqScripts {
  private readonly scripts = new Map<string, { script: LuaScript; numberOfKeys: number }>();

  /** @param redis call this before BullMQ gets the connection */
  constructor(redis: RedisConnection) {
    const define = redis.defineCommand.bind(redis);
    redis.defineCommand = (name, definition) => {
      const numberOfKeys = definition.numberOfKeys ?? 0;
      const script = new LuaScript({ source: definition.lua, numberOfKeys, name });
      this.scripts.set(name, { script, numberOfKeys });
      define(name, definition);
    };
  }

  /**
   * The call that BullMQ would send.
   * @param name with BullMQ's version
   */
  callOf(name: string, keysAndArgs: readonly LuaArgument[]): LuaCall {
    const known = this.scripts.get(name);
    if (!known) throw new Error(`BullMQ has not defined ${name}`);
    const keys = keysAndArgs.slice(0, known.numberOfKeys) as string[];
    return known.script.call(keys, keysAndArgs.slice(known.numberOfKeys));
  }
}
