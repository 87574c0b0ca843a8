--[[
  Lets nothing starve: jobs in the background that waited too long join the foreground, each in the turn of its namespace. And wakes a
  worker while anything waits, or a delayed job is due: the marker that BullMQ's workers block on is gone when the worker that popped
  it died before it took a job, and a worker that is told of a delayed job while it blocks does not hear of it.

  Works on BullMQ 6.7's structures: a prioritized job's score is priority * 2^32 + a number, its hash holds `timestamp`, `priority`
  and `data`. Earlier releases used the priority 2, too.

  KEYS[1] BullMQ's prioritized   sorted set of job ids
  KEYS[2] BullMQ's wait          list of job ids
  KEYS[3] BullMQ's marker        sorted set
  KEYS[4] fair                   hash: see includes/fair-turns
  KEYS[5] BullMQ's delayed       sorted set of job ids, by the time they are due * 0x1000 + a counter
  ARGV[1] prefix of BullMQ's job hashes
  ARGV[2] jobs added before this (epoch milliseconds, the clock of those who add) waited too long
  ARGV[3] how many are looked at, at most, per priority
  ARGV[4] now (epoch milliseconds, the clock of those who add)

  Returns 1 if turns have to be moved back (rebase-turns), else 0
]]
local prioritizedKey, waitKey, markerKey, fairKey, delayedKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local prefix, before, limit, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

--- @include "includes/fair-turns"
for priority = 2, 3 do
  local low = string.format('%.0f', priority * 0x100000000)
  local high = string.format('(%.0f', (priority + 1) * 0x100000000)
  local jobs = redis.call('ZRANGEBYSCORE', prioritizedKey, low, high, 'LIMIT', 0, limit)
  for _, jobId in ipairs(jobs) do
    local timestamp, data = unpack(redis.call('HMGET', prefix .. jobId, 'timestamp', 'data'))
    if tonumber(timestamp or '0') <= before then
      local key = data and cjson.decode(data).key
      local place, sequence = nextTurn(fairKey, 'a', type(key) == 'string' and key or '')
      redis.call('ZADD', prioritizedKey, string.format('%.17g', scoreOf(1, place, sequence)), jobId)
      redis.call('HSET', prefix .. jobId, 'priority', 1, 'turn', 1)
    end
  end
end
local due = redis.call('ZRANGE', delayedKey, 0, 0, 'WITHSCORES')[2]
local isDue = due and tonumber(due) / 0x1000 <= now
if isDue or redis.call('ZCARD', prioritizedKey) > 0 or redis.call('LLEN', waitKey) > 0 then
  redis.call('ZADD', markerKey, 0, '0')
end
return (isLineLong(fairKey, 1) or isLineLong(fairKey, 3)) and 1 or 0
