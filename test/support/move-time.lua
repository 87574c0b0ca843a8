--[[
  Lets time go on for what Redis holds: every deadline comes so much nearer, and what was noted with a time is so much older. The
  server's own clock is left alone.

  ARGV[1] pattern of the keys
  ARGV[2] milliseconds

  Known are, by what they hold: actors (`until`, `unanswered:…`), leases (`expiresUs`), token buckets (`at`), the timers of a queue with BullMQ's jobs
  that wake for them, what waits and what is parked there, and any key that expires.

  Returns how many keys there are, or -1: a worker has just been woken for a timer whose time it knows, so nothing was moved
]]
local pattern, ms = ARGV[1], tonumber(ARGV[2])

local function digits(number) return string.format('%.0f', number) end

local function shiftField(key, field, by)
  local value = tonumber(redis.call('HGET', key, field) or '')
  if value and value > 0 then redis.call('HSET', key, field, digits(value - by)) end
end

-- `change` makes another object of what a field holds as JSON.
local function shiftJson(key, field, change)
  local value = cjson.decode(redis.call('HGET', key, field))
  change(value)
  redis.call('HSET', key, field, cjson.encode(value))
end

local function shiftScores(key, by)
  local entries = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for at = 1, #entries, 2 do redis.call('ZADD', key, digits(tonumber(entries[at + 1]) - by), entries[at]) end
end

local function shiftEach(key, change)
  for _, field in ipairs(redis.call('HKEYS', key)) do shiftJson(key, field, change) end
end

local function shiftHash(key)
  if string.match(key, ':pending$') then
    return shiftEach(key, function(add) add[3] = add[3] - ms end)
  elseif string.match(key, ':parked$') then
    return shiftEach(key, function(parked) parked.parkedAtMs = parked.parkedAtMs - ms end)
  end
  shiftField(key, 'until', ms)
  shiftField(key, 'expiresUs', ms * 1000)
  shiftField(key, 'at', ms)
  shiftField(key, 'timestamp', ms)
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.match(field, '^unanswered:') then shiftField(key, field, ms) end
  end
  -- A job that wakes for a timer names when that is due.
  if redis.call('HGET', key, 'name') == 'timer' then
    shiftJson(key, 'data', function(data) data.due = digits(tonumber(data.due) - ms) end)
  end
end

local function isFiring(activeKey)
  local prefix = string.gsub(activeKey, 'active$', '')
  for _, jobId in ipairs(redis.call('LRANGE', activeKey, 0, -1)) do
    if redis.call('HGET', prefix .. jobId, 'name') == 'timer' then return true end
  end
  return false
end

local keys = redis.call('KEYS', pattern)
for _, key in ipairs(keys) do
  if string.match(key, ':active$') and isFiring(key) then return -1 end
end
for _, key in ipairs(keys) do
  local kind = redis.call('TYPE', key).ok
  if kind == 'hash' then
    shiftHash(key)
  elseif string.match(key, ':timers$') then
    shiftScores(key, ms)
  elseif string.match(key, ':delayed$') then
    -- BullMQ's scores are times in units of 1/4096 millisecond. A worker that waits for the first of them looks again.
    shiftScores(key, ms * 4096)
    redis.call('ZADD', string.gsub(key, 'delayed$', 'marker'), 0, '0')
  end
  local left = redis.call('PTTL', key)
  if left > ms then redis.call('PEXPIRE', key, digits(left - ms)) elseif left > 0 then redis.call('DEL', key) end
end
return #keys
