--[[
  Sets the key's timer unless one that is due earlier is pending. Due times are the server's.

  KEYS[1] timers     sorted set: key by due time, epoch milliseconds
  KEYS[2] timerData  hash: key -> the add to do when due, opaque
  ARGV[1] key
  ARGV[2] delay, milliseconds
  ARGV[3] the add to do when due

  Returns the due time as text when the timer is now this one, nil when an earlier one stays
]]
local timersKey, timerDataKey = KEYS[1], KEYS[2]
local key, delay, data = ARGV[1], tonumber(ARGV[2]), ARGV[3]

local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + math.ceil(delay)
local pending = redis.call('ZSCORE', timersKey, key)
if pending and tonumber(pending) <= due then return nil end
redis.call('ZADD', timersKey, string.format('%.0f', due), key)
redis.call('HSET', timerDataKey, key, data)
return string.format('%.0f', due)
