--[[
  A run of the key starts: what is known about it, and how often the key failed.

  KEYS[1] pending   hash: key -> JSON [rank, reason, readySinceMs, traces]
  KEYS[2] failures  hash: key -> failures in a row
  ARGV[1] key

  Returns {JSON or false, failures}
]]
local pendingKey, failuresKey = KEYS[1], KEYS[2]
local key = ARGV[1]

local pending = redis.call('HGET', pendingKey, key)
if pending then redis.call('HDEL', pendingKey, key) end
return { pending, tonumber(redis.call('HGET', failuresKey, key) or '0') }
