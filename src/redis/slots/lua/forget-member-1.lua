--[[
  Removes a replica that reports no more, unless it has reported since.

  KEYS[1] members  hash: see report-member
  ARGV[1] replica
  ARGV[2] its last report, as it is stored

  Returns 1 if it was removed, else 0
]]
local members, replica, report = KEYS[1], ARGV[1], ARGV[2]

if redis.call('HGET', members, replica) ~= report then return 0 end
return redis.call('HDEL', members, replica)
