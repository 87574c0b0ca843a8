--[[
  Takes the lock of an actor and reads its state. A command that is sent again is answered as the first time: its owner
  has the lock.

  KEYS[1] actor  hash: v (version of the state), token, owner, until and lasts (the lock: its end in epoch milliseconds of this
                 server, and its duration in milliseconds), released (the owner that released it last), interrupted (1: an owner never released it, and
                 no activation has found out since what that one had written), intents (JSON), own:<resource> and cause:<resource> (resourceVersions), unanswered:<write as JSON> (when it was
                 recorded, epoch milliseconds of this server; releases up to 0.1 wrote 1)
  ARGV[1] owner
  ARGV[2] lock duration, milliseconds
  ARGV[3] idle time to live, milliseconds
  ARGV[4] the same with intents
  ARGV[5] the version of the state that the caller understands

  Returns {"acquired", token as text, the whole hash, the time of this server in epoch milliseconds as text} | {"held", milliseconds left} | {"unknown-version", version}
]]
local actorKey = KEYS[1]
local owner, duration, ttl, intentTtl, known = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])

local stored = redis.call('HMGET', actorKey, 'v', 'token', 'owner', 'until', 'lasts')
local version = tonumber(stored[1] or '0')
if version > known then return { 'unknown-version', version } end

local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
local isOurs = stored[3] == owner
local left = stored[3] and tonumber(stored[4] or '0') - now or 0
if left > 0 and not isOurs then
  -- This server's clock went back: from now on, the lock lasts no longer than if it had been renewed right now.
  local longest = tonumber(stored[5] or duration)
  if left > longest then
    left = longest
    redis.call('HSET', actorKey, 'until', string.format('%.0f', now + left))
  end
  return { 'held', left }
end

-- Starts at the time, so that a token grows even after everything was forgotten.
local token = isOurs and tonumber(stored[2]) or stored[2] and math.max(tonumber(stored[2]) + 1, micros) or micros
local text = string.format('%.0f', token)
-- It stays when the command is sent again, since its owner is ours then.
if stored[3] and not isOurs then redis.call('HSET', actorKey, 'interrupted', '1') end
redis.call('HSET', actorKey, 'token', text, 'owner', owner, 'until', string.format('%.0f', now + duration),
  'lasts', duration)
-- The state outlives the lock by far.
--- @include "includes/expire"
expireIn(actorKey, ttl, intentTtl)
return { 'acquired', text, redis.call('HGETALL', actorKey), string.format('%.0f', now) }
