-- The state of an actor with intents stays longer; see ActorOptions.
local function expireIn(actorKey, ttl, intentTtl)
  local hasIntents = redis.call('HEXISTS', actorKey, 'intents') == 1
  redis.call('PEXPIRE', actorKey, hasIntents and intentTtl or ttl)
end
-- The same, but what is kept for longer stays as long as it did.
local function expireNotBefore(actorKey, ttl, intentTtl)
  local hasIntents = redis.call('HEXISTS', actorKey, 'intents') == 1
  if hasIntents or redis.call('PTTL', actorKey) < tonumber(ttl) then expireIn(actorKey, ttl, intentTtl) end
end
