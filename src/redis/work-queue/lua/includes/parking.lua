--[[
  Which adds renew the retries of a key that is parked, and what parks a key. As renewsRetries, addOfParked and park have it in
  pending-add.ts and memory-work-queue.ts.
]]
local function renewsRetries(reason)
  return reason ~= 'parked' and reason ~= 'retry'
end

-- A retry that was on its way when the key was parked is the one try of a parked key.
local function reasonOfParked(reason)
  return reason == 'retry' and 'parked' or reason
end

-- Parks the key unless a run of it waits: a change gets all its retries. Returns whether the key is parked.
local function parkKey(parkedKey, failuresKey, pendingKey, key, message)
  local stored = redis.call('HGET', pendingKey, key)
  if stored then
    local run = cjson.decode(stored)
    if renewsRetries(run[2]) then redis.call('HDEL', failuresKey, key) end
    run[2] = reasonOfParked(run[2])
    redis.call('HSET', pendingKey, key, cjson.encode(run))
    return false
  end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local failures = tonumber(redis.call('HGET', failuresKey, key) or '0')
  redis.call('HSET', parkedKey, key, cjson.encode({ error = message, retries = failures, parkedAtMs = now }))
  return true
end
