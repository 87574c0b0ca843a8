--[[
  Stores or clears intents while the token is the newest.

  KEYS[1] actor  hash: v (version of the state), token, owner, until and lasts (the lock: its end in epoch milliseconds of this
                 server, and its duration in milliseconds), released (the owner that released it last), intents (JSON), own:<resource> and cause:<resource> (resourceVersions), unanswered:<write as JSON> (when it was
                 recorded, epoch milliseconds of this server; releases up to 0.1 wrote 1)
  ARGV[1] token
  ARGV[2] owner
  ARGV[3] idle time to live, milliseconds
  ARGV[4] the version of the state that the caller writes
  ARGV[5] intents as JSON, or "" to clear them
  ARGV[6...] own writes: resource, resourceVersion, ...

  Returns 1, or 0 when the lock is not ours any more: nothing is stored
]]
local actorKey = KEYS[1]
local token, owner, ttl, version, intents = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local stored = redis.call('HMGET', actorKey, 'token', 'owner')
if stored[1] ~= token or stored[2] ~= owner then return 0 end

--- @include "includes/raise-versions"
raiseVersions(actorKey, 'own', 6)
redis.call('HSET', actorKey, 'v', version)
if intents == '' then
  redis.call('HDEL', actorKey, 'intents')
  redis.call('PEXPIRE', actorKey, ttl)
else
  redis.call('HSET', actorKey, 'intents', intents)
  redis.call('PERSIST', actorKey)
end
return 1
