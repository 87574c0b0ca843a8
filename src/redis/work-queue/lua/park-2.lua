--[[
  Parks the key at once.

  KEYS[1] parked    hash: key -> JSON {error, retries, parkedAtMs}
  KEYS[2] failures  hash: key -> failures in a row
  ARGV[1] key
  ARGV[2] error, for people

  Returns 1
]]
local parkedKey, failuresKey = KEYS[1], KEYS[2]
local key, message = ARGV[1], ARGV[2]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local failures = tonumber(redis.call('HGET', failuresKey, key) or '0')
redis.call('HSET', parkedKey, key, cjson.encode({ error = message, retries = failures, parkedAtMs = now }))
return 1
