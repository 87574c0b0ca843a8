--[[
  Takes the lock of an actor and reads its state.

  KEYS[1] actor  hash: v (version of the state), token, owner and until (the lock; epoch milliseconds of this server),
                 intents (JSON), own:<resource> and cause:<resource> (resourceVersions), unanswered:<write as JSON> (when it was
                 recorded, epoch milliseconds of this server; releases up to 0.1 wrote 1)
  ARGV[1] owner
  ARGV[2] lock duration, milliseconds
  ARGV[3] idle time to live, milliseconds
  ARGV[4] the version of the state that the caller understands

  Returns {"acquired", token as text, the whole hash, the time of this server in epoch milliseconds as text} | {"held", milliseconds left} | {"unknown-version", version}
]]
local actorKey = KEYS[1]
local owner, duration, ttl, known = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])

local stored = redis.call('HMGET', actorKey, 'v', 'token', 'owner', 'until')
local version = tonumber(stored[1] or '0')
if version > known then return { 'unknown-version', version } end

local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
if stored[3] and tonumber(stored[4] or '0') > now then return { 'held', tonumber(stored[4]) - now } end

-- Starts at the time, so that a token grows even after everything was forgotten.
local token = stored[2] and math.max(tonumber(stored[2]) + 1, micros) or micros
local text = string.format('%.0f', token)
redis.call('HSET', actorKey, 'token', text, 'owner', owner, 'until', string.format('%.0f', now + duration))
-- Intents never expire. Everything else outlives the lock by far.
if redis.call('HEXISTS', actorKey, 'intents') == 0 then redis.call('PEXPIRE', actorKey, ttl) end
return { 'acquired', text, redis.call('HGETALL', actorKey), string.format('%.0f', now) }
