-- The state of an actor with intents stays longer; see ActorOptions.
local function expireIn(actorKey, ttl, intentTtl)
  local hasIntents = redis.call('HEXISTS', actorKey, 'intents') == 1
  redis.call('PEXPIRE', actorKey, hasIntents and intentTtl or ttl)
end
