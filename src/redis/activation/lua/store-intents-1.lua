--[[
  Stores or clears intents while the token is the newest.

  KEYS[1] actor  hash: v (version of the state), token, owner, until and lasts (the lock: its end in epoch milliseconds of this
                 server, and its duration in milliseconds), released (the owner that released it last), interrupted (1: an owner never released it, and
                 no activation has found out since what that one had written), intents (JSON), own:<resource> and cause:<resource> (resourceVersions), unanswered:<write as JSON> (when it was
                 recorded, epoch milliseconds of this server; releases up to 0.1 wrote 1)
  ARGV[1] token
  ARGV[2] owner
  ARGV[3] idle time to live, milliseconds
  ARGV[4] the same with intents
  ARGV[5] the version of the state that the caller writes
  ARGV[6] intents as JSON, or "" to clear them
  ARGV[7...] own writes: resource, resourceVersion, ...

  Returns 1, or 0 when the lock is not ours any more: nothing is stored
]]
local actorKey = KEYS[1]
local token, owner, ttl, intentTtl, version, intents = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local stored = redis.call('HMGET', actorKey, 'token', 'owner')
if stored[1] ~= token or stored[2] ~= owner then return 0 end

--- @include "includes/raise-versions"
--- @include "includes/expire"
raiseVersions(actorKey, 'own', 7)
redis.call('HSET', actorKey, 'v', version)
if intents == '' then
  redis.call('HDEL', actorKey, 'intents')
else
  redis.call('HSET', actorKey, 'intents', intents)
end
expireIn(actorKey, ttl, intentTtl)
return 1
