--[[
  Removes a timer that fired, unless another was set meanwhile.

  KEYS[1] timers     sorted set: key by due time, epoch milliseconds
  KEYS[2] timerData  hash: key -> the add to do when due, opaque
  ARGV[1] key
  ARGV[2] due time as text, as `read-timer` gave it

  Returns 1 when removed, else 0
]]
local timersKey, timerDataKey = KEYS[1], KEYS[2]
local key, due = ARGV[1], ARGV[2]

if redis.call('ZSCORE', timersKey, key) ~= due then return 0 end
redis.call('ZREM', timersKey, key)
redis.call('HDEL', timerDataKey, key)
return 1
