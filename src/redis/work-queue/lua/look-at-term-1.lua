--[[
  Looks whether a leader's term still counts, without an add: after a loss of data there may be none for a long time.

  KEYS[1] term  hash: epoch, holder
  ARGV[1] epoch
  ARGV[2] holder

  Returns the run of this server, see includes/server-run
  Error SUPERSEDED <epoch that counts, 0: none>
]]
local termKey = KEYS[1]
local epoch, holder = ARGV[1], ARGV[2]

--- @include "includes/server-run"
local current = redis.call('HMGET', termKey, 'epoch', 'holder')
if current[1] == epoch and current[2] == holder then return serverRun() end
return redis.error_reply('SUPERSEDED ' .. (current[1] or '0'))
