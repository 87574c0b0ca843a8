--[[
  A run of the key starts: what is known about it, how often the key failed, and whether earlier runs asked to come back later.

  KEYS[1] pending    hash: key -> JSON [rank, reason, readySinceMs, traces, place, sequence]
  KEYS[2] failures   hash: key -> failures in a row
  KEYS[3] timerData  hash: key -> the add to do when due, JSON; read for `reason` alone
  KEYS[4] fair       hash: see includes/fair-turns
  KEYS[5] parked     hash: key -> JSON. A key that runs is not parked: its job may come back after its worker has parked it and died
  ARGV[1] key

  Returns {JSON or false, failures, 1 or 0}
]]
local pendingKey, failuresKey, timerDataKey, fairKey, parkedKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local key = ARGV[1]

--- @include "includes/timer-of-runs"
--- @include "includes/fair-turns"
local pending = redis.call('HGET', pendingKey, key)
if pending then
  redis.call('HDEL', pendingKey, key)
  local run = cjson.decode(pending)
  if run[5] then beginTurn(fairKey, run[1], run[5]) end
end
redis.call('HDEL', parkedKey, key)
local comesBack = isOfRuns(redis.call('HGET', timerDataKey, key)) and 1 or 0
return { pending, tonumber(redis.call('HGET', failuresKey, key) or '0'), comesBack }
