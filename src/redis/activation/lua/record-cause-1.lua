--[[
  Records changes that the next activation must have seen, and writes that it must settle.

  KEYS[1] actor  hash: v (version of the state), token, owner, until and lasts (the lock: its end in epoch milliseconds of this
                 server, and its duration in milliseconds), released (the owner that released it last), interrupted (1: an owner never released it, and
                 no activation has found out since what that one had written), intents (JSON), own:<resource> and cause:<resource> (resourceVersions), unanswered:<write as JSON> (when it was
                 recorded, epoch milliseconds of this server; releases up to 0.1 wrote 1)
  ARGV[1] time to live at least, milliseconds: what is kept for longer stays as long as it did
  ARGV[2] time to live with intents, milliseconds
  ARGV[3] how many unanswered writes follow
  ARGV[4...] these, then: resource, resourceVersion, ...

  Returns 1
]]
local actorKey = KEYS[1]
local ttl, intentTtl = ARGV[1], ARGV[2]

--- @include "includes/raise-versions"
--- @include "includes/unanswered-writes"
--- @include "includes/expire"
raiseVersions(actorKey, 'cause', addUnanswered(actorKey, 3))
expireNotBefore(actorKey, ttl, intentTtl)
return 1
