--[[
  Lets nothing starve: jobs of a lower priority that waited too long join the first priority's line, the longest
  waiting first. And wakes a worker while anything waits: the marker that BullMQ's workers block on is gone when
  the worker that popped it died before it took a job.

  Works on BullMQ 6.7's structures: a prioritized job's score is priority * 2^32 + a counter (getPriorityScore),
  its hash holds `timestamp` and `priority`, and the marker set holds "0" while there is something to take.

  KEYS[1] BullMQ's prioritized   sorted set of job ids
  KEYS[2] BullMQ's pc            the counter
  KEYS[3] BullMQ's wait          list of job ids
  KEYS[4] BullMQ's marker        sorted set
  ARGV[1] prefix of BullMQ's job hashes
  ARGV[2] jobs added before this (epoch milliseconds, the clock of those who add) waited too long
  ARGV[3] how many at most, per priority

  Returns how many were moved
]]
local prioritizedKey, counterKey, waitKey, markerKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, before, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local moved = 0
for priority = 2, 3 do
  local low = string.format('%.0f', priority * 0x100000000)
  local high = string.format('(%.0f', (priority + 1) * 0x100000000)
  local jobs = redis.call('ZRANGEBYSCORE', prioritizedKey, low, high, 'LIMIT', 0, limit)
  for _, jobId in ipairs(jobs) do
    local timestamp = tonumber(redis.call('HGET', prefix .. jobId, 'timestamp') or '0')
    if timestamp > before then break end
    local counter = redis.call('INCR', counterKey)
    redis.call('ZADD', prioritizedKey, string.format('%.0f', 0x100000000 + counter % 0x100000000), jobId)
    redis.call('HSET', prefix .. jobId, 'priority', 1)
    moved = moved + 1
  end
end
if redis.call('ZCARD', prioritizedKey) > 0 or redis.call('LLEN', waitKey) > 0 then
  redis.call('ZADD', markerKey, 0, '0')
end
return moved
