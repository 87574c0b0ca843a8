--[[
  Drops the timer of a key, with the delayed job that would wake a worker for it.

  KEYS[1] timers           sorted set: key by due time, epoch milliseconds
  KEYS[2] timerData        hash: key -> the add to do when due, JSON; read for `wakeUp` alone
  KEYS[3] BullMQ's delayed sorted set of job ids
  ARGV[1] key
  ARGV[2] prefix of BullMQ's keys

  Returns 1 when there was one, else 0
]]
local timersKey, timerDataKey, delayedKey = KEYS[1], KEYS[2], KEYS[3]
local key, jobPrefix = ARGV[1], ARGV[2]

--- @include "includes/wake-ups"
dropWakeUp(delayedKey, jobPrefix, redis.call('HGET', timerDataKey, key))
redis.call('HDEL', timerDataKey, key)
return redis.call('ZREM', timersKey, key)
