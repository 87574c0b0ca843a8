--[[
  Timers that should have fired a while ago: their wake-up job was lost.

  KEYS[1] timers  sorted set: key by due time, epoch milliseconds
  ARGV[1] grace, milliseconds
  ARGV[2] how many at most

  Returns the keys, the longest overdue first
]]
local timersKey = KEYS[1]
local grace, limit = tonumber(ARGV[1]), tonumber(ARGV[2])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGEBYSCORE', timersKey, 0, now - grace, 'LIMIT', 0, limit)
