import { describe, expect, it } from 'vitest';
import { LuaScript } from './lua-script.js';
import { runInOneStep } from './one-step.js';
import type { RedisConnection } from './redis-connection.js';

const take = new LuaScript(new URL('../work-queue/lua/read-timer-2.lua', import.meta.url));
const forget = new LuaScript(new URL('../activation/lua/renew-1.lua', import.meta.url));
const [first, second] = [take.call(['{q}:a', '{q}:b'], ['key']), forget.call(['{a}'])];

/** A server that answers with the number of keys it was sent, and fails where `refuses` returns an error. */
function aServer(refuses: (keys: readonly unknown[]) => Error | undefined = () => undefined) {
  const commands: unknown[][] = [];
  const shas: string[] = [];
  const evalsha = async (sha: string, count: number, ...rest: unknown[]): Promise<unknown> => {
    shas.push(sha);
    const keys = rest.slice(0, count);
    commands.push(keys);
    const error = refuses(keys);
    if (error) throw error;
    const isJoined = count > 2 || keys.length !== new Set(keys).size;
    return isJoined ? keys.map((key) => `of ${String(key)}`) : `of ${count}`;
  };
  return { commands, shas, redis: { evalsha } as unknown as RedisConnection };
}

describe('scripts in one step', () => {
  it('are one command', async () => {
    const { commands, redis } = aServer();
    await runInOneStep(redis, [first, second]);
    expect(commands).toEqual([['{q}:a', '{q}:b', '{a}']]);
  });

  it('are the same script in any order and number, because the server keeps every script', async () => {
    const { redis, shas } = aServer();
    await runInOneStep(redis, [first, second]);
    await runInOneStep(redis, [second, first, first, second]);
    expect(new Set(shas).size).toBe(1);
  });

  it('are themselves where there is only one', async () => {
    const { commands, redis } = aServer();
    expect(await runInOneStep(redis, [first])).toEqual(['of 2']);
    expect(commands).toEqual([['{q}:a', '{q}:b']]);
  });

  it('are as many as there are tags, in their order, on a server that takes no keys of different slots together', async () => {
    const crossSlot = new Error("CROSSSLOT Keys in request don't hash to the same slot");
    const isMixed = (keys: readonly unknown[]): boolean => keys.includes('{a}') && keys.length > 1;
    const { commands, redis } = aServer((keys) => (isMixed(keys) ? crossSlot : undefined));
    await runInOneStep(redis, [second, first, first]);
    await runInOneStep(redis, [second, first, first]);
    const both = ['{q}:a', '{q}:b', '{q}:a', '{q}:b'];
    expect(commands, 'it is asked once').toEqual([['{a}', ...both], ['{a}'], both, ['{a}'], both]);
  });

  it('fail together with any other error', async () => {
    const { commands, redis } = aServer(() => new Error('READONLY'));
    await expect(runInOneStep(redis, [first, second])).rejects.toThrow('READONLY');
    expect(commands).toHaveLength(1);
  });
});
