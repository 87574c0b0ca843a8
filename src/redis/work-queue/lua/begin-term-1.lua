--[[
  A leader's term begins: from now on its adds count, and those of any other do not.

  KEYS[1] term  hash: epoch, holder. Never expires.
  ARGV[1] epoch
  ARGV[2] holder

  Returns the run of this server, see includes/server-run; also when the term has begun already
  Error SUPERSEDED <epoch>: a newer one has begun, or the same epoch of another holder
]]
local termKey = KEYS[1]
local epoch, holder = ARGV[1], ARGV[2]

--- @include "includes/server-run"
local current = redis.call('HMGET', termKey, 'epoch', 'holder')
local before = tonumber(current[1] or '0')
if before > tonumber(epoch) or (before == tonumber(epoch) and current[2] ~= holder) then
  return redis.error_reply('SUPERSEDED ' .. current[1])
end
redis.call('HSET', termKey, 'epoch', epoch, 'holder', holder)
return serverRun()
