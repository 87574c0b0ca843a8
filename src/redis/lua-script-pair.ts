import type { LuaCall, LuaScript } from './lua-script.js';
import type { RedisConnection } from './redis-connection.js';
import { StoredScript } from './stored-script.js';

const joined = new WeakMap<LuaScript, WeakMap<LuaScript, StoredScript>>();

/**
 * Runs two scripts in one step, as one command: both happen or neither, with nothing in between. Both must not return
 * nil. Their keys may have different hash tags, so this is not for a Cluster.
 * @returns the replies of both
 */
export async function runInOneStep(
  redis: RedisConnection,
  first: LuaCall,
  second: LuaCall,
): Promise<[unknown, unknown]> {
  const args = [first.keys.length, first.args.length, ...first.args, ...second.args];
  const replies = await scriptOf(first.script, second.script).run(
    redis,
    [...first.keys, ...second.keys],
    args,
  );
  return replies as [unknown, unknown];
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
