--[[
  Assigns slots, all or none. The same call once more changes nothing: the command may be sent again. Without changes it only tells whether
  the term counts, and reads.

  KEYS[1] slots  hash: see begin-slots
  ARGV[1] epoch of the term
  ARGV[2] holder of the term
  ARGV[3] channel on which the change is told
  ARGV[4] changes, as JSON: a list of [slot, owner, standby]

  Returns the state of each slot, in order
  Error SUPERSEDED <epoch that counts, 0: none>
  Error NOSLOT <number>
]]
local slotsKey = KEYS[1]
local epoch, holder, channel, changes = ARGV[1], ARGV[2], ARGV[3], cjson.decode(ARGV[4])

--- @include "includes/slots"
local current = redis.call('HMGET', slotsKey, 'epoch', 'holder', 'count')
if current[1] ~= epoch or current[2] ~= holder then return redis.error_reply('SUPERSEDED ' .. (current[1] or '0')) end

local assigned = {}
for _, change in ipairs(changes) do
  local slot, owner, standby = change[1], change[2], change[3]
  local stored = redis.call('HGET', slotsKey, slot)
  if not stored then return redis.error_reply('NOSLOT ' .. slot) end
  local state = cjson.decode(stored)
  local slotEpoch = state[1]
  if state[2] ~= owner then slotEpoch = slotEpoch + 1 end
  table.insert(assigned, slot)
  table.insert(assigned, cjson.encode({ slotEpoch, owner, standby }))
end
for at = 1, #assigned, 2 do redis.call('HSET', slotsKey, assigned[at], assigned[at + 1]) end
if #assigned > 0 then redis.call('PUBLISH', channel, '') end
return slotsOf(slotsKey, tonumber(current[3]))
