--[[
  What is in a queue. A queue at rest is told by three commands, so that looking at it often costs next to nothing.

  KEYS[1] BullMQ's wait         list of job ids
  KEYS[2] BullMQ's prioritized  sorted set of job ids
  KEYS[3] BullMQ's active       list of job ids
  KEYS[4] BullMQ's delayed      sorted set of job ids
  KEYS[5] BullMQ's meta         hash, has `paused` while the queue is paused
  KEYS[6] pending               hash: key -> JSON
  KEYS[7] timers                sorted set: key by due time
  KEYS[8] clock                 exists only while there are timers, or until the next maintenance
  KEYS[9] parked                hash: key -> JSON

  Returns {1 if nothing is there that maintenance would look at, else 0; how many wait; how many are active; how many are parked;
  1 if the queue is paused, else 0}
]]
local waitKey, prioritizedKey, activeKey, delayedKey, metaKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local pendingKey, timersKey, clockKey, parkedKey = KEYS[6], KEYS[7], KEYS[8], KEYS[9]

local parked = redis.call('HLEN', parkedKey)
local paused = redis.call('HEXISTS', metaKey, 'paused')
if redis.call('EXISTS', waitKey, prioritizedKey, activeKey, delayedKey, pendingKey, timersKey, clockKey) == 0 then
  return { 1, 0, 0, parked, paused }
end
local waiting = redis.call('LLEN', waitKey) + redis.call('ZCARD', prioritizedKey)
return { 0, waiting, redis.call('LLEN', activeKey), parked, paused }
