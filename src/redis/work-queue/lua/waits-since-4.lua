--[[
  Looks whether a job has waited since before a given time, or a delayed one has been due for as long. Of each
  priority the next jobs are looked at: each has waited longest in its namespace.

  Works on BullMQ 6.7's structures: the score of a prioritized job is priority * 2^32 + its turn, that of a delayed job is
  the time it is due * 0x1000 + a counter, and a job's hash holds `timestamp`.

  KEYS[1] BullMQ's wait         list of job ids, the next one at its end
  KEYS[2] BullMQ's prioritized  sorted set of job ids
  KEYS[3] BullMQ's delayed      sorted set of job ids
  KEYS[4] BullMQ's meta         hash, has `paused` while the queue is paused
  ARGV[1] prefix of BullMQ's job hashes
  ARGV[2] the time, epoch milliseconds by the clock of those who add

  Returns 1 if one has, else 0
]]
local waitKey, prioritizedKey, delayedKey, metaKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, before = ARGV[1], tonumber(ARGV[2])

local function isOld(jobId)
  return jobId and tonumber(redis.call('HGET', prefix .. jobId, 'timestamp') or '0') <= before
end

local function anyIsOld()
  if isOld(redis.call('LINDEX', waitKey, -1)) then return true end
  local due = redis.call('ZRANGE', delayedKey, 0, 0, 'WITHSCORES')[2]
  if due and tonumber(due) / 0x1000 <= before then return true end
  if redis.call('ZCARD', prioritizedKey) == 0 then return false end
  for priority = 1, 3 do
    local low = string.format('%.0f', priority * 0x100000000)
    local high = string.format('(%.0f', (priority + 1) * 0x100000000)
    for _, jobId in ipairs(redis.call('ZRANGEBYSCORE', prioritizedKey, low, high, 'LIMIT', 0, 16)) do
      if isOld(jobId) then return true end
    end
  end
  return false
end

return anyIsOld() and redis.call('HEXISTS', metaKey, 'paused') == 0 and 1 or 0
