import type { LuaCall } from './lua-script.js';
import { LuaScript } from './lua-script.js';

/**
 * How long an answer is kept, milliseconds: longer than a command of ours may wait for its answer, and than the retries of
 * its caller take while Redis answers again.
 */
const KEPT_MS = 30_000;

const wrapped = new WeakMap<LuaScript, LuaScript>();

/**
 * The same call, whose effect and answer stay the same if it is sent again: the client resends a command whose answer got
 * lost with its connection, and its caller may repeat it. For scripts that would count, move or remove something twice.
 * An error is not kept: a refused call had no effect.
 * @param answerKey unique to the call, with the hash tag of the call's keys; expires by itself
 * @param keptMs how long the answer is kept, milliseconds @default 30 000
 */
export function answeredOnce<Reply>(
  call: LuaCall<Reply>,
  answerKey: string,
  keptMs = KEPT_MS,
): LuaCall<Reply> {
  const { args, keys, script } = call;
  let once = wrapped.get(script);
  if (!once) {
    const numberOfKeys = script.numberOfKeys === undefined ? {} : { numberOfKeys: script.numberOfKeys + 1 };
    once = new LuaScript({ source: onceOf(script.source), name: script.name, ...numberOfKeys });
    wrapped.set(script, once);
  }
  // The wrapper returns what the script returns.
  return (once as LuaScript<Reply>).call([...keys, answerKey], [...args, keptMs]);
}

/** The last key and the last argument are the wrapper's. */
function onceOf(source: string): string {
  return `
local answerKey, keptMs = table.remove(KEYS), table.remove(ARGV)
local kept = redis.call('GET', answerKey)
if kept then return cmsgpack.unpack(kept).reply end
local reply = (function(KEYS, ARGV)
${source}
end)(KEYS, ARGV)
if type(reply) == 'table' and reply.err then return reply end
redis.call('SET', answerKey, cmsgpack.pack({ reply = reply }), 'PX', keptMs)
return reply
`;
}
