--[[
  In front of what a leader does, in the same step: an error ends it there. A term that is not known counts for as little
  as an old one: it could not be told from one that was forgotten.

  KEYS[1] term  hash: epoch, holder
  ARGV[1] epoch
  ARGV[2] holder

  Returns 1
  Error SUPERSEDED <epoch that counts, 0: none>
]]
local termKey = KEYS[1]
local epoch, holder = ARGV[1], ARGV[2]

local current = redis.call('HMGET', termKey, 'epoch', 'holder')
if current[1] == epoch and current[2] == holder then return 1 end
return redis.error_reply('SUPERSEDED ' .. (current[1] or '0'))
