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

-- What shows both of two resourceVersions, as newerResourceVersion has it: the newer of two decimal numbers of any length;
-- of opaque ones a name for the pair.
local function isOpaque(version)
  return version:find('%D') or version:find('^0.')
end
local function newer(a, b)
  if not a or a == '' or a == b then return b end
  if b == '' then return a end
  if isOpaque(a) or isOpaque(b) then return '?' .. redis.sha1hex(a .. ' ' .. b) end
  if #a ~= #b then return #a > #b and a or b end
  return a > b and a or b
end
for index = 2, #ARGV, 2 do
  local field = 'cause:' .. ARGV[index]
  local known = redis.call('HGET', actorKey, field)
  local newest = newer(known, ARGV[index + 1])
  if newest ~= known then redis.call('HSET', actorKey, field, newest) end
end
if redis.call('HEXISTS', actorKey, 'intents') == 0 then redis.call('PEXPIRE', actorKey, ttl) end
return 1
