--[[
  Records changes that the next activation must have seen, and writes that it must settle.

  KEYS[1] actor  hash: v (version of the state), token, owner, until and lasts (the lock: its end in epoch milliseconds of this
                 server, and its duration in milliseconds), released (the owner that released it last), intents (JSON), own:<resource> and cause:<resource> (resourceVersions), unanswered:<write as JSON> (when it was
                 recorded, epoch milliseconds of this server; releases up to 0.1 wrote 1)
  ARGV[1] idle time to live, milliseconds
  ARGV[2] how many unanswered writes follow
  ARGV[3...] these, then: resource, resourceVersion, ...

  Returns 1
]]
local actorKey = KEYS[1]
local ttl = ARGV[1]

--- @include "includes/raise-versions"
--- @include "includes/unanswered-writes"
raiseVersions(actorKey, 'cause', addUnanswered(actorKey, 2))
if redis.call('HEXISTS', actorKey, 'intents') == 0 then redis.call('PEXPIRE', actorKey, ttl) end
return 1
