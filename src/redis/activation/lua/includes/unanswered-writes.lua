-- Both read a count at ARGV[at] and as many writes as text after it; return the index that follows.
local function addUnanswered(actorKey, at)
  local last = at + tonumber(ARGV[at])
  for index = at + 1, last do redis.call('HSET', actorKey, 'unanswered:' .. ARGV[index], '1') end
  return last + 1
end
local function removeSettled(actorKey, at)
  local last = at + tonumber(ARGV[at])
  for index = at + 1, last do redis.call('HDEL', actorKey, 'unanswered:' .. ARGV[index]) end
  return last + 1
end
