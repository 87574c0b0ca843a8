import type { LuaArgument, LuaCall } from './lua-script.js';
import { LuaScript } from './lua-script.js';
import type { RedisConnection } from './redis-connection.js';

/** The replies to calls, in order. */
export type RepliesOf<Calls extends readonly LuaCall[]> = {
  -readonly [Index in keyof Calls]: Calls[Index] extends LuaCall<infer Reply> ? Reply : never;
};

/** Connections to servers that refuse keys of different hash tags in one command. */
const refused = new WeakSet<RedisConnection>();
/** By the hashes of the scripts, each once; there are only a few combinations. */
const joined = new Map<string, LuaScript<unknown[]>>();

/**
 * Runs scripts atomically, as one command, in order. If one replies with an error, the rest do not run, and the command
 * fails with that error.
 *
 * Scripts whose keys have different hash tags cannot run in a Cluster. If the server turns out to be one behind a proxy
 * (CROSSSLOT), neighbouring scripts of the same tag are sent as one step each, one step after the other, from then on.
 * @returns the replies, `null` for nil and false
 */
export async function runInOneStep<const Calls extends readonly LuaCall[]>(
  redis: RedisConnection,
  calls: Calls,
): Promise<RepliesOf<Calls>> {
  // Each script's replies are its own, in the order of the calls.
  return (await runTogether(redis, calls)) as RepliesOf<Calls>;
}

async function runTogether(redis: RedisConnection, calls: readonly LuaCall[]): Promise<unknown[]> {
  if (refused.has(redis)) return runByTag(redis, calls);
  try {
    return await runJoined(redis, calls);
  } catch (error) {
    if (!isCrossSlot(error)) throw error;
    refused.add(redis);
    return runByTag(redis, calls);
  }
}

async function runJoined(redis: RedisConnection, calls: readonly LuaCall[]): Promise<unknown[]> {
  const [only] = calls;
  if (only && calls.length === 1) return [await only.script.run(redis, only.keys, only.args)];
  const { args, keys, script } = joinedCall(calls);
  return script.run(redis, keys, args);
}

/**
 * The call that {@link runInOneStep} sends for several others. In their scripts, the table REPLIES has the replies of those before.
 */
export function joinedCall(calls: readonly LuaCall[]): LuaCall<unknown[]> {
  const { places, script } = joinedOf(calls);
  const shapes = calls.flatMap(({ args, keys }, index) => [places[index] ?? 0, keys.length, args.length]);
  const args: LuaArgument[] = [calls.length, ...shapes, ...calls.flatMap((call) => call.args)];
  return script.call(
    calls.flatMap((call) => call.keys),
    args,
  );
}

/** Begins the error of a script that declines, and with it the whole step. */
export const REFUSED = 'REFUSED';

/** Whether a Cluster refuses a command because of its keys. */
export function isCrossSlot(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('CROSSSLOT');
}

async function runByTag(redis: RedisConnection, calls: readonly LuaCall[]): Promise<unknown[]> {
  const replies: unknown[] = [];
  for (let from = 0; from < calls.length;) {
    const tag = tagOf(calls[from]);
    let to = from + 1;
    while (to < calls.length && tagOf(calls[to]) === tag) to += 1;
    replies.push(...(await runJoined(redis, calls.slice(from, to))));
    from = to;
  }
  return replies;
}

/** All keys of one call have the same tag. */
function tagOf(call: LuaCall | undefined): string {
  return hashTagOf(call?.keys[0] ?? '');
}

/** The part of a key that determines its slot in a Cluster. */
export function hashTagOf(key: string): string {
  const from = key.indexOf('{') + 1;
  const to = from > 0 ? key.indexOf('}', from) : -1;
  return to > from ? key.slice(from, to) : key;
}

/** One script for all orders and numbers of the same scripts: a server keeps every one that it was ever sent. */
function joinedOf(calls: readonly LuaCall[]): {
  script: LuaScript<unknown[]>;
  places: readonly number[];
} {
  const scripts = new Map(calls.map(({ script }) => [script.sha, script]));
  const shas = [...scripts.keys()].sort();
  const id = shas.join();
  let script = joined.get(id);
  if (!script) {
    const parts = shas.flatMap((sha) => scripts.get(sha) ?? []);
    const name = parts.map((part) => part.name).join(' + ');
    joined.set(id, (script = new LuaScript({ source: sourceOf(parts), name })));
  }
  return { script, places: calls.map((call) => shas.indexOf(call.script.sha) + 1) };
}

/**
 * Each script keeps its own KEYS and ARGV: its parameters shadow the globals. The arguments of all are the number of
 * calls, then for each its script, its number of keys and of arguments, then the arguments of each.
 */
function sourceOf(scripts: readonly LuaScript[]): string {
  return `
local scripts = {
${scripts.map(({ source }) => `function(KEYS, ARGV, REPLIES)\n${source}\nend`).join(',\n')}
}
local function part(list, from, count)
  local taken = {}
  for index = from, from + count - 1 do taken[#taken + 1] = list[index] end
  return taken
end
local calls = tonumber(ARGV[1])
local key, arg, replies = 1, 2 + 3 * calls, {}
for index = 1, calls do
  local place, keys, args = tonumber(ARGV[3 * index - 1]), tonumber(ARGV[3 * index]), tonumber(ARGV[3 * index + 1])
  local reply = scripts[place](part(KEYS, key, keys), part(ARGV, arg, args), replies)
  if type(reply) == 'table' and reply.err then return reply end
  replies[index] = reply or false
  key, arg = key + keys, arg + args
end
return replies
`;
}
