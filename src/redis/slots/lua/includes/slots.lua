-- The states of all slots, in order, as they are stored.
local function slotsOf(slotsKey, count)
  local states = {}
  for slot = 0, count - 1 do table.insert(states, redis.call('HGET', slotsKey, slot)) end
  return states
end
