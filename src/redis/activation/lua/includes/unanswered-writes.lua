-- Both read a count at ARGV[at] and as many writes as text after it; return the index that follows.
-- Of a write that is recorded twice the first time counts.
local function addUnanswered(actorKey, at)
  local last = at + tonumber(ARGV[at])
  if last == at then return last + 1 end
  local time = redis.call('TIME')
  local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  for index = at + 1, last do redis.call('HSETNX', actorKey, 'unanswered:' .. ARGV[index], now) end
  return last + 1
end
local function removeSettled(actorKey, at)
  local last = at + tonumber(ARGV[at])
  for index = at + 1, last do redis.call('HDEL', actorKey, 'unanswered:' .. ARGV[index]) end
  return last + 1
end
