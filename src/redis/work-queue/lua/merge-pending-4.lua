--[[
  Merges an add into what is known about the key's next run, and takes the key out of the parked ones.

  KEYS[1] pending   hash: key -> JSON [rank, reason, readySinceMs, traces, place, sequence]; the last two are the key's turn
  KEYS[2] parked    hash: key -> JSON
  KEYS[3] failures  hash: key -> failures in a row
  KEYS[4] fair      hash: see includes/fair-turns
  ARGV[1] key
  ARGV[2] rank (1 = high ... 3 = low)
  ARGV[3] reason
  ARGV[4] readySinceMs
  ARGV[5] traces: traceparents, space separated, the one to go on with first; may be ""

  Returns {rank of the run}
]]
local pendingKey, parkedKey, failuresKey, fairKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local key, rank, reason, readySince, traces = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), ARGV[5]

--- @include "includes/merge-traces"
--- @include "includes/fair-turns"
--- @include "includes/parking"
local function split(text)
  local words = {}
  for word in string.gmatch(text, '%S+') do table.insert(words, word) end
  return words
end

-- Most adds carry no trace, or the one that waits already.
local function join(first, second)
  if second == '' or first == second then return first end
  if first == '' then return second end
  return table.concat(mergeTraces(split(first), split(second)), ' ')
end

local place, sequence
local stored = redis.call('HGET', pendingKey, key)
local waiting = stored and cjson.decode(stored)

-- A new change deserves all its retries again, also if it meets the one try of a key that was parked.
local wasParked = redis.call('HDEL', parkedKey, key) == 1
if renewsRetries(reason) and (wasParked or (waiting and waiting[2] == 'parked')) then
  redis.call('HDEL', failuresKey, key)
end
if wasParked then reason = reasonOfParked(reason) end

if waiting then
  if rank < waiting[1] then
    traces = join(traces, waiting[4])
  else
    rank = waiting[1]
    reason = waiting[2]
    traces = join(waiting[4], traces)
    place, sequence = waiting[5], waiting[6]
  end
  readySince = math.min(readySince, waiting[3])
end
if not place then
  if redis.call('HLEN', pendingKey) == 0 then redis.call('DEL', fairKey) end
  place, sequence = nextTurn(fairKey, rank, key)
end
redis.call('HSET', pendingKey, key, cjson.encode({ rank, reason, readySince, traces, place, sequence }))
return { rank }
