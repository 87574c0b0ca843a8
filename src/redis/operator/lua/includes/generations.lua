-- A memory of fixed size in two hashes: the new one takes the place of the old one once it is full. What is recalled
-- from the old one is kept in the new one.
local function remember(newKey, oldKey, field, value, most, ttl)
  redis.call('HSET', newKey, field, value)
  redis.call('PEXPIRE', newKey, ttl)
  if redis.call('HLEN', newKey) >= tonumber(most) then redis.call('RENAME', newKey, oldKey) end
end
local function recall(newKey, oldKey, field)
  return redis.call('HGET', newKey, field) or redis.call('HGET', oldKey, field)
end
