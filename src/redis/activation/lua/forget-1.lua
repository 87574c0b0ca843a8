--[[
  Drops everything about an actor that is not locked.

  KEYS[1] actor  hash: v (version of the state), token, owner and until (the lock; epoch milliseconds of this server),
                 intents (JSON), own:<resource> and cause:<resource> (resourceVersions), unanswered:<write as JSON> (when it was
                 recorded, epoch milliseconds of this server; releases up to 0.1 wrote 1)

  Returns 1, or 0 when it is locked
]]
local actorKey = KEYS[1]

local stored = redis.call('HMGET', actorKey, 'owner', 'until')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if stored[1] and tonumber(stored[2] or '0') > now then return 0 end
redis.call('DEL', actorKey)
return 1
