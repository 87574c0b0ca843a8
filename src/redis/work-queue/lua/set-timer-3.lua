--[[
  Sets the key's timer unless one that is due earlier is pending. Due times are the server's. Of the add that gives way,
  the traces are kept: they are links of the run. If one of the two is of a change, the timer is: a run that ends well
  must not drop it.

  KEYS[1] timers     sorted set: key by due time, epoch milliseconds
  KEYS[2] timerData  hash: key -> the add to do when due, JSON; read for its reason, priority, `traceparent`,
                     `links` and `wakeUp`
  KEYS[3] BullMQ's delayed  sorted set of job ids
  ARGV[1] key
  ARGV[2] delay, milliseconds
  ARGV[3] the add to do when due
  ARGV[4] prefix of BullMQ's keys

  Returns the due time as text when the timer is now this one, nil when an earlier one stays
]]
local timersKey, timerDataKey, delayedKey = KEYS[1], KEYS[2], KEYS[3]
local key, delay, data, jobPrefix = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]

--- @include "includes/merge-traces"
--- @include "includes/timer-of-runs"
--- @include "includes/wake-ups"
local function tracesOf(add)
  local traces = { add.traceparent }
  for _, link in ipairs(add.links or {}) do table.insert(traces, link) end
  return traces
end

-- Whether `other` had any that `kept` did not.
local function keepTraces(kept, other)
  local before = tracesOf(kept)
  local merged = mergeTraces(before, tracesOf(other))
  if #merged <= #before then return false end
  kept.traceparent = table.remove(merged, 1)
  kept.links = #merged > 0 and merged or nil
  return true
end

-- Whether only `other` was of a change.
local function keepChange(kept, other)
  if not isReasonOfRuns(kept.reason) or isReasonOfRuns(other.reason) then return false end
  kept.reason, kept.priority = other.reason, other.priority
  return true
end

local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + math.ceil(delay)
local pending = redis.call('ZSCORE', timersKey, key)
local stored = pending and redis.call('HGET', timerDataKey, key)
local stays = pending and tonumber(pending) <= due
if stored then
  local kept, other = cjson.decode(stays and stored or data), cjson.decode(stays and data or stored)
  local hasNewTraces = keepTraces(kept, other)
  local changed = keepChange(kept, other) or hasNewTraces
  if changed and stays then redis.call('HSET', timerDataKey, key, cjson.encode(kept)) end
  if changed and not stays then data = cjson.encode(kept) end
end
if stays then return nil end
dropWakeUp(delayedKey, jobPrefix, stored)
redis.call('ZADD', timersKey, string.format('%.0f', due), key)
redis.call('HSET', timerDataKey, key, data)
return string.format('%.0f', due)
