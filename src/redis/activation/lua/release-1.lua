--[[
  Lets go of a lock that is still ours and stores what the activation leaves behind.

  KEYS[1] actor  hash: v (version of the state), token, owner, until and lasts (the lock: its end in epoch milliseconds of this
                 server, and its duration in milliseconds), released (the owner that released it last), interrupted (1: an owner never released it, and
                 no activation has found out since what that one had written), intents (JSON), own:<resource> and cause:<resource> (resourceVersions), unanswered:<write as JSON> (when it was
                 recorded, epoch milliseconds of this server; releases up to 0.1 wrote 1)
  ARGV[1] token
  ARGV[2] owner
  ARGV[3] time to live from now on, milliseconds
  ARGV[4] the same with intents
  ARGV[5] the version of the state that the caller writes
  ARGV[6] 1 to clear the intents, else 0
  ARGV[7] 1 if the writes of an interrupted activation are known now, else 0
  ARGV[8] how many settled writes follow, then these
  then how many unanswered writes follow, then these
  then own writes: resource, resourceVersion, ...

  Returns 1, also when this owner has released it already and the command is sent again, or 0 when the lock is not ours any more: nothing is stored
]]
local actorKey = KEYS[1]
local token, owner, ttl, intentTtl, version = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local clear, settles = ARGV[6], ARGV[7]

local stored = redis.call('HMGET', actorKey, 'token', 'owner', 'released')
if stored[3] == owner then return 1 end
if stored[1] ~= token or stored[2] ~= owner then return 0 end

--- @include "includes/raise-versions"
--- @include "includes/unanswered-writes"
--- @include "includes/expire"
raiseVersions(actorKey, 'own', addUnanswered(actorKey, removeSettled(actorKey, 8)))
redis.call('HSET', actorKey, 'v', version, 'released', owner)
redis.call('HDEL', actorKey, 'owner', 'until')
if clear == '1' then redis.call('HDEL', actorKey, 'intents') end
if settles == '1' then redis.call('HDEL', actorKey, 'interrupted') end
expireIn(actorKey, ttl, intentTtl)
return 1
