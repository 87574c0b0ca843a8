import type { LuaCall, LuaScript } from './lua-script.js';
import type { RedisConnection } from './redis-connection.js';
import { StoredScript } from './stored-script.js';

/** Connections to servers that refuse keys of different hash tags in one command. */
const refused = new WeakSet<RedisConnection>();
const joined = new WeakMap<LuaScript, WeakMap<LuaScript, StoredScript>>();

/**
 * Runs two scripts in one step, as one command: both happen or neither, with nothing in between. Both must not return
 * nil. Where the keys have different hash tags this is not for a Cluster; a server that turns out to be one behind a
 * proxy (CROSSSLOT) is sent one after the other from then on.
 * @returns the replies of both
 */
export async function runInOneStep(
  redis: RedisConnection,
  first: LuaCall,
  second: LuaCall,
): Promise<[unknown, unknown]> {
  if (refused.has(redis)) return runInTurn(redis, first, second);
  const args = [first.keys.length, first.args.length, ...first.args, ...second.args];
  const keys = [...first.keys, ...second.keys];
  try {
    return (await scriptOf(first.script, second.script).run(redis, keys, args)) as [unknown, unknown];
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('CROSSSLOT')) throw error;
    refused.add(redis);
    return runInTurn(redis, first, second);
  }
}

async function runInTurn(
  redis: RedisConnection,
  first: LuaCall,
  second: LuaCall,
): Promise<[unknown, unknown]> {
  const reply = await first.script.run(redis, first.keys, first.args);
  return [reply, await second.script.run(redis, second.keys, second.args)];
}

function scriptOf(first: LuaScript, second: LuaScript): StoredScript {
  const followers = joined.get(first) ?? new WeakMap<LuaScript, StoredScript>();
  joined.set(first, followers);
  const script = followers.get(second) ?? new StoredScript(sourceOf(first, second));
  followers.set(second, script);
  return script;
}

/** Each keeps its own KEYS and ARGV: as parameters they hide those of the whole. */
function sourceOf(first: LuaScript, second: LuaScript): string {
  return `
local function first(KEYS, ARGV)
${first.source}
end
local function second(KEYS, ARGV)
${second.source}
end
local function part(list, from, to)
  local taken = {}
  for index = from, to do taken[#taken + 1] = list[index] end
  return taken
end
local keys, args = tonumber(ARGV[1]), tonumber(ARGV[2])
local reply = first(part(KEYS, 1, keys), part(ARGV, 3, 2 + args))
return { reply, second(part(KEYS, keys + 1, #KEYS), part(ARGV, 3 + args, #ARGV)) }
`;
}
