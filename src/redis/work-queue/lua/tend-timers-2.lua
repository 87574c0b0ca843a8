--[[
  Finds timers that should have fired a while ago: their wake-up job was lost. And notices that this server's clock went
  back, or that a server took over whose clock is behind: each timer would fire so much too late, so all are moved back
  as well. The time is noted only now and then, and a jump is found too small by as much.

  KEYS[1] timers  sorted set: key by due time, epoch milliseconds
  KEYS[2] clock   the latest time that was seen while there were timers, epoch milliseconds
  ARGV[1] grace, milliseconds
  ARGV[2] how many overdue ones at most
  ARGV[3] how often the time is noted, milliseconds
  ARGV[4] how far the clock may go back without a consequence, milliseconds

  Returns {the keys that are overdue, the longest first; of each timer that was moved: key, due time as text, milliseconds left}
]]
local timersKey, clockKey = KEYS[1], KEYS[2]
local grace, limit, every, tolerated = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local moved = {}

local function moveAll(by)
  local timers = redis.call('ZRANGE', timersKey, 0, -1, 'WITHSCORES')
  for at = 1, #timers, 2 do
    local key, due = timers[at], math.max(tonumber(timers[at + 1]) - by, 1)
    local text = string.format('%.0f', due)
    redis.call('ZADD', timersKey, text, key)
    table.insert(moved, key)
    table.insert(moved, text)
    table.insert(moved, math.max(due - now, 0))
  end
end

if redis.call('ZCARD', timersKey) == 0 then
  redis.call('DEL', clockKey)
else
  local seen = tonumber(redis.call('GET', clockKey) or '0')
  local back = seen - now
  if back > tolerated then moveAll(back) end
  if back > tolerated or -back >= every then redis.call('SET', clockKey, string.format('%.0f', now)) end
end
return { redis.call('ZRANGEBYSCORE', timersKey, 0, now - grace, 'LIMIT', 0, limit), moved }
