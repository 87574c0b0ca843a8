--[[
  Puts the job of a key that waits in its turn among BullMQ's prioritized jobs. Once it has a turn it never moves back. Follows BullMQ's own add in the same step.

  Works on BullMQ 6.7's structures: a prioritized job's score is priority * 2^32 + a counter, its hash holds `priority`. The
  successor of an active job is put in by BullMQ itself, by that counter: we set it to where a namespace with nothing waiting joins.

  KEYS[1] BullMQ's prioritized  sorted set of job ids
  KEYS[2] BullMQ's pc           the counter
  KEYS[3] pending               hash: key -> JSON [rank, reason, readySinceMs, traces, place, sequence]
  KEYS[4] fair                  hash: see includes/fair-turns
  ARGV[1] prefix of BullMQ's keys
  ARGV[2] key, which is the deduplication id

  Returns nothing
]]
local prioritizedKey, counterKey, pendingKey, fairKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, key = ARGV[1], ARGV[2]

--- @include "includes/fair-turns"
local pending = redis.call('HGET', pendingKey, key)
local run = pending and cjson.decode(pending)
if not run or not run[5] then return end
local jobId = redis.call('GET', prefix .. 'de:' .. key)
local score = jobId and redis.call('ZSCORE', prioritizedKey, jobId)

if not score then
  -- BullMQ adds one to its counter and puts the successor there; the run takes that turn, so that virtual time does not leap.
  local place = tonumber(redis.call('HGET', fairKey, 'v' .. lineOf(run[1])) or '0') + placeOf(run[1])
  redis.call('SET', counterKey, string.format('%.0f', place - 1))
  run[5] = place
  redis.call('HSET', pendingKey, key, cjson.encode(run))
  return
end

local line = lineOf(run[1])
local wanted = scoreOf(line, run[5], run[6])
-- BullMQ's counter is no turn; a job that was aged has one of its own in the foreground.
local hasTurn = redis.call('HGET', prefix .. jobId, 'turn')
if hasTurn and tonumber(score) <= wanted then return end
redis.call('ZADD', prioritizedKey, string.format('%.17g', wanted), jobId)
redis.call('HSET', prefix .. jobId, 'priority', line, 'turn', 1)
