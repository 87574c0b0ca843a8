--[[
  The term of a leader begins that assigns slots: from now on only its assignments count. The first one makes the slots.

  KEYS[1] slots  hash: count, epoch and holder of the term, and by the number of a slot its state as JSON: [epoch, owner, standby].
                 Never expires, so that no epoch goes back.
  ARGV[1] epoch
  ARGV[2] holder
  ARGV[3] number of slots

  Returns the state of each slot, in order
  Error SUPERSEDED <epoch>: a newer one has begun, or the same epoch of another holder
  Error OTHERCOUNT <count>: there are slots already, of another number
]]
local slotsKey = KEYS[1]
local epoch, holder, count = ARGV[1], ARGV[2], tonumber(ARGV[3])

--- @include "includes/slots"
local current = redis.call('HMGET', slotsKey, 'epoch', 'holder', 'count')
local before = tonumber(current[1] or '0')
if before > tonumber(epoch) or (before == tonumber(epoch) and current[2] ~= holder) then
  return redis.error_reply('SUPERSEDED ' .. current[1])
end
if current[3] and tonumber(current[3]) ~= count then return redis.error_reply('OTHERCOUNT ' .. current[3]) end
if not current[3] then
  for slot = 0, count - 1 do redis.call('HSET', slotsKey, slot, '[0,"",""]') end
end
redis.call('HSET', slotsKey, 'epoch', epoch, 'holder', holder, 'count', count)
return slotsOf(slotsKey, count)
