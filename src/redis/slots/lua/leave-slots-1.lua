--[[
  A replica takes no slots any more.

  KEYS[1] members  hash: see report-member
  ARGV[1] replica
  ARGV[2] channel on which news of replicas are told

  Returns 1 if it was there, else 0
]]
local members, replica, channel = KEYS[1], ARGV[1], ARGV[2]

local wasThere = redis.call('HDEL', members, replica)
if wasThere == 1 then redis.call('PUBLISH', channel, '') end
return wasThere
