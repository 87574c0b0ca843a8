import { describe, expect, it } from 'vitest';
import { LuaScript } from './lua-script.js';
import { runInOneStep } from './lua-script-pair.js';
import type { RedisConnection } from './redis-connection.js';

const take = new LuaScript(new URL('../work-queue/lua/take-pending-2.lua', import.meta.url));
const forget = new LuaScript(new URL('../actor/lua/forget-1.lua', import.meta.url));
const [first, second] = [take.call(['{q}:a', '{q}:b'], ['key']), forget.call(['{a}'])];

/** A server that answers with what it was sent, and refuses what `refuses` says. */
function aServer(refuses: (keys: readonly unknown[]) => Error | undefined = () => undefined) {
  const commands: unknown[][] = [];
  const evalsha = async (_sha: string, count: number, ...rest: unknown[]): Promise<unknown> => {
    const keys = rest.slice(0, count);
    commands.push(keys);
    const error = refuses(keys);
    if (error) throw error;
    return keys.length === 3 ? ['of the first', 'of the second'] : `of ${keys.length}`;
  };
  return { commands, redis: { evalsha } as unknown as RedisConnection };
}

describe('two scripts in one step', () => {
  it('are one command', async () => {
    const { commands, redis } = aServer();
    expect(await runInOneStep(redis, first, second)).toEqual(['of the first', 'of the second']);
    expect(commands).toEqual([['{q}:a', '{q}:b', '{a}']]);
  });

  it('are two, in their order, on a server that takes no keys of different slots together', async () => {
    const crossSlot = new Error("CROSSSLOT Keys in request don't hash to the same slot");
    const { commands, redis } = aServer((keys) => (keys.length === 3 ? crossSlot : undefined));
    expect(await runInOneStep(redis, first, second)).toEqual(['of 2', 'of 1']);
    expect(await runInOneStep(redis, first, second)).toEqual(['of 2', 'of 1']);
    expect(
      commands.map((keys) => keys.length),
      'it is asked once',
    ).toEqual([3, 2, 1, 2, 1]);
  });

  it('fail together with any other error', async () => {
    const { commands, redis } = aServer(() => new Error('READONLY'));
    await expect(runInOneStep(redis, first, second)).rejects.toThrow('READONLY');
    expect(commands).toHaveLength(1);
  });
});
