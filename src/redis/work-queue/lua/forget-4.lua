--[[
  A run of the key has ended well: its failures are over, and so is what earlier runs asked for later. Timers of changes stay.

  KEYS[1] failures   hash: key -> failures in a row
  KEYS[2] timers     sorted set: key by due time, epoch milliseconds
  KEYS[3] timerData  hash: key -> the add to do when due, JSON; read for `reason` and `wakeUp` alone
  KEYS[4] BullMQ's delayed  sorted set of job ids
  ARGV[1] key
  ARGV[2] prefix of BullMQ's keys

  Returns nothing
]]
local failuresKey, timersKey, timerDataKey, delayedKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local key, jobPrefix = ARGV[1], ARGV[2]

--- @include "includes/timer-of-runs"
--- @include "includes/wake-ups"
redis.call('HDEL', failuresKey, key)
local data = redis.call('HGET', timerDataKey, key)
if isOfRuns(data) then
  dropWakeUp(delayedKey, jobPrefix, data)
  redis.call('ZREM', timersKey, key)
  redis.call('HDEL', timerDataKey, key)
end
