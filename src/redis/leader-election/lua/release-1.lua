--[[
  Gives up the lease if it is ours, and tells the others.

  KEYS[1] lease  hash, see acquire-1.lua

  ARGV[1] identity  of who asks
  ARGV[2] channel   where others wait for the news

  Returns 1 if it was ours, else 0.
]]
local identity, channel = ARGV[1], ARGV[2]

if redis.call("HGET", KEYS[1], "holder") ~= identity then
  return 0
end
redis.call("HSET", KEYS[1], "holder", "", "expiresUs", 0, "witness", "")
redis.call("PUBLISH", channel, identity)
return 1
