--[[
  The delayed job of BullMQ that wakes a worker for a timer. Its id is stored in the add of the timer, as `wakeUp`.
]]
-- Removes a job that no worker has taken yet. BullMQ's delayed jobs have no other keys.
local function removeDelayed(delayedKey, jobPrefix, id)
  if redis.call('ZREM', delayedKey, id) == 1 then redis.call('DEL', jobPrefix .. id) end
end

-- Removes the job of the timer with this add, as JSON, or false for none.
local function dropWakeUp(delayedKey, jobPrefix, data)
  local id = data and cjson.decode(data).wakeUp
  if id then removeDelayed(delayedKey, jobPrefix, id) end
end
