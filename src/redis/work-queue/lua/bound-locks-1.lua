--[[
  Lets no lock of a job last longer than a lock lasts, and no pause between two looks for dead workers longer than that pause. Redis ends
  keys by the wall clock: if that went back, the lock of a dead worker would last so much longer, and nobody would look for it so
  much longer.

  Works on BullMQ 6.7's structures: the lock of an active job is a key beside its hash, which expires, and so is `stalled-check`,
  without which the next look is done.

  KEYS[1] BullMQ's active  list of job ids
  ARGV[1] prefix of BullMQ's job hashes
  ARGV[2] duration of a lock, milliseconds
  ARGV[3] the longest time between two looks for dead workers, milliseconds

  Returns nothing
]]
local activeKey = KEYS[1]
local prefix, duration, between = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local function endWithin(key, most)
  if redis.call('PTTL', key) > most then redis.call('PEXPIRE', key, most) end
end

endWithin(prefix .. 'stalled-check', between)
for _, jobId in ipairs(redis.call('LRANGE', activeKey, 0, -1)) do
  endWithin(prefix .. jobId .. ':lock', duration)
end
