--[[
  Notes that a replica is there.

  KEYS[1] replicas  hash: identity -> JSON {seenMs, told}
  ARGV[1] identity
  ARGV[2] JSON, what it tells of itself; empty: it goes

  Returns 1
]]
local identity, told = ARGV[1], ARGV[2]
if told == '' then
  redis.call('HDEL', KEYS[1], identity)
  return 1
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], identity, cjson.encode({ seenMs = now, told = told }))
return 1
