--[[
  Looks whether a job stands behind a key that waits. If none does, an outage has left BullMQ's deduplication key
  behind, which would hold the key back for ever: it is removed, with what hangs on it.

  KEYS[1] BullMQ's prioritized  sorted set of job ids
  KEYS[2] BullMQ's wait         list of job ids
  KEYS[3] BullMQ's active       list of job ids
  KEYS[4] BullMQ's delayed      sorted set of job ids
  ARGV[1] prefix of BullMQ's keys
  ARGV[2] deduplication id

  Returns 0 when a job stands behind the key, else 1 to 4 for what was found:
    1 no deduplication key   2 one of a job that is gone   3 one of a job in no list   4 one of an active job without a successor
]]
local prioritizedKey, waitKey, activeKey, delayedKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, id = ARGV[1], ARGV[2]

local jobId = redis.call('GET', prefix .. 'de:' .. id)
if not jobId then return 1 end
local jobKey = prefix .. jobId
local found = 2
if redis.call('EXISTS', jobKey) == 1 then
  if redis.call('ZSCORE', prioritizedKey, jobId) or redis.call('ZSCORE', delayedKey, jobId)
    or redis.call('LPOS', waitKey, jobId) then return 0 end
  -- An active job takes the key up again only if the add stored its successor.
  if redis.call('LPOS', activeKey, jobId) and redis.call('EXISTS', prefix .. 'dn:' .. id) == 1 then return 0 end
  if redis.call('LPOS', activeKey, jobId) then return 4 end
  found = 3
end
redis.call('ZREM', prioritizedKey, jobId)
redis.call('LREM', activeKey, 0, jobId)
redis.call('DEL', prefix .. 'de:' .. id, prefix .. 'dn:' .. id, jobKey, jobKey .. ':lock')
return found
