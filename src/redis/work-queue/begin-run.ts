import { LuaScript } from '../connection/index.js';

/** Stands for the key in the keys of what goes with the start of a run, where the job is not known yet. The last one in a key counts. */
export const KEY_TO_COME = '*';

/** The reply of `take-pending`. */
export type TakeReply = [add: string | null, failures: number, comesBack: number];
/** The reply of {@link beginRun}: null without a job, or where its run is not to begin this way. */
export type BegunReply = [taken: TakeReply, started: unknown] | null;

const begun = new Map<LuaScript | undefined, LuaScript<BegunReply>>();

/**
 * The start of a run, to follow BullMQ's script that has taken its job in the same step: reads the key from that script's reply.
 * The keys are those of `take`, then those of `after`; the arguments are the newest format of jobs that is known, then
 * those of `after`.
 * @param take takes one argument, the key
 * @param after what goes with the start of a run
 */
export function beginRun(take: LuaScript<TakeReply>, after: LuaScript | undefined): LuaScript<BegunReply> {
  let script = begun.get(after);
  if (!script) {
    const name = ['begin-run', ...(after ? [after.name] : [])].join(' with ');
    begun.set(after, (script = new LuaScript<BegunReply>({ name, source: sourceOf(take, after) })));
  }
  return script;
}

function sourceOf(take: LuaScript, after: LuaScript | undefined): string {
  const taking = take.numberOfKeys ?? 0;
  return `
local job = REPLIES[#REPLIES]
local fields = type(job) == 'table' and job[1]
if type(fields) ~= 'table' then return false end
local text
for at = 1, #fields, 2 do
  if fields[at] == 'data' then text = fields[at + 1] end
end
local isJson, data = pcall(cjson.decode, text or '')
-- A job of another format, or one that wakes a worker for a timer, is looked at by the worker.
if not isJson or type(data) ~= 'table' or type(data.key) ~= 'string' or data.due then return false end
if (data.v or 1) > tonumber(ARGV[1]) then return false end
local function withKey(name)
  return (string.gsub(name, '^(.*)%${KEY_TO_COME}', function(before) return before .. data.key end))
end
local keys, args = {}, {}
for index = 1, ${taking} do keys[index] = KEYS[index] end
local taken = (function(KEYS, ARGV)
${take.source}
end)(keys, { data.key })
keys = {}
for index = ${taking + 1}, #KEYS do keys[#keys + 1] = withKey(KEYS[index]) end
for index = 2, #ARGV do args[#args + 1] = ARGV[index] end
local started = (function(KEYS, ARGV)
${after?.source ?? 'return false'}
end)(keys, args)
return { taken, started or false }
`;
}
