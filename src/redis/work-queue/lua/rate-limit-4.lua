--[[
  Counts a failure of the key and decides: park it, or how long it waits. `rate-limiters.ts` is the same in
  TypeScript. The timer is `set-timer`'s.

  KEYS[1] failures   hash: key -> failures in a row
  KEYS[2] bucket     hash: tokens, at (epoch milliseconds)
  KEYS[3] parked     hash: key -> JSON {error, retries, parkedAtMs}
  KEYS[4] pending    hash: key -> JSON [rank, reason, readySinceMs, traces, place, sequence]
  ARGV[1] key
  ARGV[2] error, for people
  ARGV[3] maxRetries
  ARGV[4] backoffBaseMs
  ARGV[5] backoffMaxMs
  ARGV[6] bucketRatePerSecond
  ARGV[7] bucketBurst

  Returns {1 when parked, 2 when it would be and a run of it waits, else 0; the delay in milliseconds as text}
]]
local failuresKey, bucketKey, parkedKey, pendingKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local key, message = ARGV[1], ARGV[2]
local maxRetries, base, max = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local rate, burst = tonumber(ARGV[6]), tonumber(ARGV[7])

--- @include "includes/parking"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local failures = tonumber(redis.call('HGET', failuresKey, key) or '0')

-- 1. Failed too often: it waits for a person or a new change.
if failures >= maxRetries then
  return { parkKey(parkedKey, failuresKey, pendingKey, key, message) and 1 or 2, '0' }
end
redis.call('HSET', failuresKey, key, failures + 1)

-- 2. A token, now or from the future.
local bucket = redis.call('HMGET', bucketKey, 'tokens', 'at')
local available = burst
if bucket[1] then
  local elapsed = math.max(now - tonumber(bucket[2]), 0)
  available = math.min(tonumber(bucket[1]) + elapsed * rate / 1000, burst)
end
local tokens = available - 1
redis.call('HSET', bucketKey, 'tokens', tostring(tokens), 'at', now)
local delay = math.min(base * 2 ^ failures, max)
if tokens < 0 then delay = math.max(delay, -tokens * 1000 / rate) end
return { 0, tostring(delay) }
