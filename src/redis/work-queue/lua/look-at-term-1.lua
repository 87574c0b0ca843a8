--[[
  Looks whether a leader's term still counts, without an add: after a loss of data there may be none for a long time.

  KEYS[1] term  hash: epoch, holder
  ARGV[1] epoch
  ARGV[2] holder

  Returns {1, the run of this server, see includes/server-run} if it counts, else {0, the epoch that counts as text, "0": none}
]]
local termKey = KEYS[1]
local epoch, holder = ARGV[1], ARGV[2]

--- @include "includes/server-run"
local current = redis.call('HMGET', termKey, 'epoch', 'holder')
if current[1] == epoch and current[2] == holder then return { 1, serverRun() } end
return { 0, current[1] or '0' }
