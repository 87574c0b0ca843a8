--[[
  Records changes that the next activation must have seen.

  KEYS[1] actor  hash: v (version of the state), token, owner and until (the lock; epoch milliseconds of this server),
                 intents (JSON), own:<resource> and cause:<resource> (resourceVersions)
  ARGV[1] idle time to live, milliseconds
  ARGV[2...] resource, resourceVersion, ...

  Returns 1
]]
local actorKey = KEYS[1]
local ttl = ARGV[1]

-- resourceVersions are decimal numbers of any length.
local function isNewer(a, b)
  if not b or #a ~= #b then return not b or #a > #b end
  return a > b
end
for index = 2, #ARGV, 2 do
  local field = 'cause:' .. ARGV[index]
  if isNewer(ARGV[index + 1], redis.call('HGET', actorKey, field)) then
    redis.call('HSET', actorKey, field, ARGV[index + 1])
  end
end
if redis.call('HEXISTS', actorKey, 'intents') == 0 then redis.call('PEXPIRE', actorKey, ttl) end
return 1
