--[[
  Prolongs a lock that is still ours, even one that ran out unless somebody took it.

  KEYS[1] actor  hash: v (version of the state), token, owner, until and lasts (the lock: its end in epoch milliseconds of this
                 server, and its duration in milliseconds), released (the owner that released it last), interrupted (1: an owner never released it, and
                 no activation has found out since what that one had written), intents (JSON), own:<resource> and cause:<resource> (resourceVersions), unanswered:<write as JSON> (when it was
                 recorded, epoch milliseconds of this server; releases up to 0.1 wrote 1)
  ARGV[1] token
  ARGV[2] owner
  ARGV[3] lock duration, milliseconds
  ARGV[4] idle time to live, milliseconds
  ARGV[5] the same with intents

  Returns 1, or 0 when the lock is not ours any more
]]
local actorKey = KEYS[1]
local token, owner, duration, ttl, intentTtl = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]

local stored = redis.call('HMGET', actorKey, 'token', 'owner')
if stored[1] ~= token or stored[2] ~= owner then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', actorKey, 'until', string.format('%.0f', now + duration), 'lasts', duration)
--- @include "includes/expire"
expireIn(actorKey, ttl, intentTtl)
return 1
