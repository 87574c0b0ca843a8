--[[
  A run of the key has ended well: its failures are over, and so is what earlier runs asked for later. Timers of changes stay.

  KEYS[1] failures   hash: key -> failures in a row
  KEYS[2] timers     sorted set: key by due time, epoch milliseconds
  KEYS[3] timerData  hash: key -> the add to do when due, JSON; read for `reason` alone
  ARGV[1] key

  Returns nothing
]]
local failuresKey, timersKey, timerDataKey = KEYS[1], KEYS[2], KEYS[3]
local key = ARGV[1]

--- @include "includes/timer-of-runs"
redis.call('HDEL', failuresKey, key)
if isOfRuns(redis.call('HGET', timerDataKey, key)) then
  redis.call('ZREM', timersKey, key)
  redis.call('HDEL', timerDataKey, key)
end
