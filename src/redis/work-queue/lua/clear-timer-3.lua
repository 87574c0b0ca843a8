--[[
  Removes a timer that fired, unless another was set meanwhile.

  KEYS[1] timers     sorted set: key by due time, epoch milliseconds
  KEYS[2] timerData  hash: key -> the add to do when due, JSON; read for `wakeUp` alone
  KEYS[3] BullMQ's delayed  sorted set of job ids; the job of a timer that fired late may still be there
  ARGV[1] key
  ARGV[2] due time as text, as `read-timer` gave it
  ARGV[3] prefix of BullMQ's keys

  Returns nothing
]]
local timersKey, timerDataKey, delayedKey = KEYS[1], KEYS[2], KEYS[3]
local key, due, jobPrefix = ARGV[1], ARGV[2], ARGV[3]

--- @include "includes/wake-ups"
if redis.call('ZSCORE', timersKey, key) ~= due then return end
dropWakeUp(delayedKey, jobPrefix, redis.call('HGET', timerDataKey, key))
redis.call('ZREM', timersKey, key)
redis.call('HDEL', timerDataKey, key)
