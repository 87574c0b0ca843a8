--[[
  Notes which delayed job wakes a worker for a timer, right after BullMQ has added that job. If the timer was replaced or
  dropped meanwhile, the job is removed: it would stay until it is due.

  KEYS[1] timers           sorted set: key by due time, epoch milliseconds
  KEYS[2] timerData        hash: key -> the add to do when due, JSON; `wakeUp` is the id of the job
  KEYS[3] BullMQ's delayed sorted set of job ids
  ARGV[1] key
  ARGV[2] due time as text, as `set-timer` returned it
  ARGV[3] id of the job
  ARGV[4] prefix of BullMQ's keys

  Returns 1 when the job belongs to the timer, 0 when it was removed
]]
local timersKey, timerDataKey, delayedKey = KEYS[1], KEYS[2], KEYS[3]
local key, due, id, jobPrefix = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include "includes/wake-ups"
local data = redis.call('ZSCORE', timersKey, key) == due and redis.call('HGET', timerDataKey, key)
if not data then
  removeDelayed(delayedKey, jobPrefix, id)
  return 0
end
local add = cjson.decode(data)
if add.wakeUp == id then return 1 end
dropWakeUp(delayedKey, jobPrefix, data)
add.wakeUp = id
-- An empty list would become an object.
if add.links and #add.links == 0 then add.links = nil end
redis.call('HSET', timerDataKey, key, cjson.encode(add))
return 1
