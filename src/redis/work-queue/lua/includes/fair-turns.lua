--[[
  Whose turn it is, as FairTurns in fair-turns.ts has it: start-time fair queueing of keys by namespace.

  The hash `fair` has the field `v<line>` for the virtual time of each line, `n` for the last sequence number, and
  `<class>:<namespace>` for where the next run of that namespace starts. A class is the rank of a run (1 = high ... 3 = low), or 'a' for a key that was
  low and waited too long. Line 3 is the background, line 1 everything else: these are priorities of BullMQ as well.
]]
local function lineOf(class)
  return class == 3 and 3 or 1
end

-- How far behind the namespace's start the run is placed.
local function placeOf(class)
  return (class == 1 or class == 'a') and 1 or 8
end

-- How far the run moves the namespace back.
local function costOf(class)
  return class == 1 and 1 or 8
end

-- A start that virtual time has passed says nothing, and the namespace may never be seen again.
local function forgetPassed(fairKey)
  local fields = redis.call('HGETALL', fairKey)
  local times = {}
  for at = 1, #fields, 2 do times[fields[at]] = tonumber(fields[at + 1]) end
  for share, start in pairs(times) do
    local class = string.match(share, '^([^:]+):')
    if class and start <= (times['v' .. lineOf(tonumber(class) or class)] or 0) then redis.call('HDEL', fairKey, share) end
  end
end

-- The place and the sequence number of a key that begins to wait.
local function nextTurn(fairKey, class, key)
  local share = class .. ':' .. (string.match(key, '^([^/]*)/') or '')
  local known = redis.call('HMGET', fairKey, 'v' .. lineOf(class), share)
  local start = math.max(tonumber(known[1] or '0'), tonumber(known[2] or '0'))
  redis.call('HSET', fairKey, share, string.format('%.0f', start + costOf(class)))
  local sequence = redis.call('HINCRBY', fairKey, 'n', 1)
  if sequence % 1000 == 0 then forgetPassed(fairKey) end
  return start + placeOf(class), sequence
end

-- A run starts whose turn was at `place`.
local function beginTurn(fairKey, class, place)
  local field, start = 'v' .. lineOf(class), place - placeOf(class)
  if start > tonumber(redis.call('HGET', fairKey, field) or '0') then
    redis.call('HSET', fairKey, field, string.format('%.0f', start))
  end
end

-- Whether the turns of a line have to be moved back; see rebase-turns.
local function isLineLong(fairKey, line)
  return tonumber(redis.call('HGET', fairKey, 'v' .. line) or '0') > 0x80000000
end

-- The score among BullMQ's prioritized jobs: priority, turn, and as a fraction the order of those with the same turn.
local function scoreOf(line, place, sequence)
  return line * 0x100000000 + math.min(place, 0xffffffff) + sequence % 0x10000 / 0x10000
end
