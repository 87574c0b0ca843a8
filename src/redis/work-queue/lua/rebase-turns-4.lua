--[[
  Moves all turns of a line back once its virtual time is past half of what a score can hold (2^32): otherwise every key would
  get the same place some day. It is set back only where nothing waits, which may never be in a busy queue.

  Works on BullMQ 6.7's structures: a prioritized job's score is priority * 2^32 + a number, and `pc` is BullMQ's counter for it.

  KEYS[1] BullMQ's prioritized  sorted set of job ids
  KEYS[2] BullMQ's pc           the counter
  KEYS[3] pending               hash: key -> JSON [rank, reason, readySinceMs, traces, place, sequence]
  KEYS[4] fair                  hash: see includes/fair-turns
  ARGV[1] prefix of BullMQ's keys

  Returns how many lines were moved; its cost grows with how many keys wait
]]
local prioritizedKey, counterKey, pendingKey, fairKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix = ARGV[1]

--- @include "includes/fair-turns"
-- By how much each line moves. A waiting key is behind virtual time by no more than its place is ahead of its start.
local back = {}
local moved = 0
for _, line in ipairs({ 1, 3 }) do
  if isLineLong(fairKey, line) then
    back[line] = tonumber(redis.call('HGET', fairKey, 'v' .. line)) - 0x10000
    moved = moved + 1
  end
end
if moved == 0 then return 0 end

local function movedBack(line, number)
  return math.max(number - (back[line] or 0), 0)
end

local fields = redis.call('HGETALL', fairKey)
for at = 1, #fields, 2 do
  local name = fields[at]
  local class = string.match(name, '^([^:]+):')
  local line = tonumber(string.match(name, '^v(%d)$')) or class and lineOf(tonumber(class) or class)
  if line then redis.call('HSET', fairKey, name, string.format('%.0f', movedBack(line, tonumber(fields[at + 1])))) end
end

for line, by in pairs(back) do
  local first = line * 0x100000000
  local low, high = string.format('%.0f', first), string.format('(%.0f', first + 0x100000000)
  local jobs = redis.call('ZRANGEBYSCORE', prioritizedKey, low, high, 'WITHSCORES')
  for at = 1, #jobs, 2 do
    local score = math.max(tonumber(jobs[at + 1]) - by, first)
    redis.call('ZADD', prioritizedKey, string.format('%.17g', score), jobs[at])
  end
  local counter = tonumber(redis.call('GET', counterKey) or '0')
  redis.call('SET', counterKey, string.format('%.0f', movedBack(line, counter)))
end

-- Past the limit, all scores of a line were the same: the places are with what waits. A job that was aged has left its line.
local waiting = redis.call('HGETALL', pendingKey)
for at = 1, #waiting, 2 do
  local key, run = waiting[at], cjson.decode(waiting[at + 1])
  local line = lineOf(run[1])
  if run[5] and back[line] then
    run[5] = movedBack(line, run[5])
    redis.call('HSET', pendingKey, key, cjson.encode(run))
    local jobId = redis.call('GET', prefix .. 'de:' .. key)
    local score = jobId and redis.call('ZSCORE', prioritizedKey, jobId)
    if score and math.floor(tonumber(score) / 0x100000000) == line then
      redis.call('ZADD', prioritizedKey, string.format('%.17g', scoreOf(line, run[5], run[6])), jobId)
    end
  end
end
return moved
