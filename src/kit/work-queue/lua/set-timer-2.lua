--[[
  Sets the key's timer unless one that is due earlier is pending. Due times are the server's. Of the add that gives way,
  the traces are kept: they are links of the run (`tracesOf` in pending-add.ts is the same in TypeScript).

  KEYS[1] timers     sorted set: key by due time, epoch milliseconds
  KEYS[2] timerData  hash: key -> the add to do when due, JSON; read for `traceparent` and `links` alone
  ARGV[1] key
  ARGV[2] delay, milliseconds
  ARGV[3] the add to do when due

  Returns the due time as text when the timer is now this one, nil when an earlier one stays
]]
local timersKey, timerDataKey = KEYS[1], KEYS[2]
local key, delay, data = ARGV[1], tonumber(ARGV[2]), ARGV[3]

-- 16: MAX_TRACE_LINKS.
local function keepTraces(kept, other)
  if not other.traceparent then return false end
  if not kept.traceparent then
    kept.traceparent, kept.links = other.traceparent, other.links
    return true
  end
  local links, seen, before = {}, { [kept.traceparent] = true }, #(kept.links or {})
  local function add(traceparent)
    if seen[traceparent] or #links >= 16 then return end
    seen[traceparent] = true
    table.insert(links, traceparent)
  end
  for _, link in ipairs(kept.links or {}) do add(link) end
  add(other.traceparent)
  for _, link in ipairs(other.links or {}) do add(link) end
  if #links > 0 then kept.links = links end
  return #links > before
end

local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + math.ceil(delay)
local pending = redis.call('ZSCORE', timersKey, key)
local stored = pending and redis.call('HGET', timerDataKey, key)
local stays = pending and tonumber(pending) <= due
if stored then
  local kept, other = cjson.decode(stays and stored or data), cjson.decode(stays and data or stored)
  local changed = keepTraces(kept, other)
  if changed and stays then redis.call('HSET', timerDataKey, key, cjson.encode(kept)) end
  if changed and not stays then data = cjson.encode(kept) end
end
if stays then return nil end
redis.call('ZADD', timersKey, string.format('%.0f', due), key)
redis.call('HSET', timerDataKey, key, data)
return string.format('%.0f', due)
