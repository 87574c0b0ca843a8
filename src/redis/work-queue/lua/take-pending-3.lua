--[[
  A run of the key starts: what is known about it, how often the key failed, and whether earlier runs asked to come back later.

  KEYS[1] pending    hash: key -> JSON [rank, reason, readySinceMs, traces]
  KEYS[2] failures   hash: key -> failures in a row
  KEYS[3] timerData  hash: key -> the add to do when due, JSON; read for `reason` alone
  ARGV[1] key

  Returns {JSON or false, failures, 1 or 0}
]]
local pendingKey, failuresKey, timerDataKey = KEYS[1], KEYS[2], KEYS[3]
local key = ARGV[1]

--- @include "includes/timer-of-runs"
local pending = redis.call('HGET', pendingKey, key)
if pending then redis.call('HDEL', pendingKey, key) end
local comesBack = isOfRuns(redis.call('HGET', timerDataKey, key)) and 1 or 0
return { pending, tonumber(redis.call('HGET', failuresKey, key) or '0'), comesBack }
