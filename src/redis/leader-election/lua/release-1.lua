--[[
  Gives up the lease if it is ours, and tells the others. A command that is sent again is answered as the first time.

  KEYS[1] lease  hash, see acquire-1.lua

  ARGV[1] identity  of who asks
  ARGV[2] channel   where others wait for the news
  ARGV[3] attempt   the number of this attempt among those of the identity

  Returns 1 if it was ours, else 0.
]]
local identity, channel, attempt = ARGV[1], ARGV[2], ARGV[3]

local lease = redis.call("HMGET", KEYS[1], "holder", "released")
local release = identity .. " " .. attempt
if lease[2] == release then
  return 1
end
if lease[1] ~= identity then
  return 0
end
redis.call("HSET", KEYS[1], "holder", "", "expiresUs", 0, "witness", "", "released", release)
redis.call("PUBLISH", channel, identity)
return 1
