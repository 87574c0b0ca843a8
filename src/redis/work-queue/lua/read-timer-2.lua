--[[
  Whether the key's timer is due. It stays until `clear-timer`, so that a crash in between fires it again.

  KEYS[1] timers     sorted set: key by due time, epoch milliseconds
  KEYS[2] timerData  hash: key -> the add to do when due, opaque
  ARGV[1] key

  Returns nil when there is none, else {milliseconds left (0: due), due time as text, data}
]]
local timersKey, timerDataKey = KEYS[1], KEYS[2]
local key = ARGV[1]

local due = redis.call('ZSCORE', timersKey, key)
if not due then return nil end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- BullMQ wakes by the clock of a worker; a millisecond of difference is not worth another round.
local left = math.max(math.ceil(tonumber(due) - now - 1), 0)
return { left, due, redis.call('HGET', timerDataKey, key) }
