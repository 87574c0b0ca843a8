--[[
  Lets no lock of a job last longer than a lock lasts. Redis ends keys by the wall clock: if that went back, the lock of a
  dead worker would last so much longer, and its key with it.

  Works on BullMQ 6.7's structures: the lock of an active job is a key beside its hash, which expires.

  KEYS[1] BullMQ's active  list of job ids
  ARGV[1] prefix of BullMQ's job hashes
  ARGV[2] duration of a lock, milliseconds

  Returns nothing
]]
local activeKey = KEYS[1]
local prefix, duration = ARGV[1], tonumber(ARGV[2])

for _, jobId in ipairs(redis.call('LRANGE', activeKey, 0, -1)) do
  local lockKey = prefix .. jobId .. ':lock'
  if redis.call('PTTL', lockKey) > duration then
    redis.call('PEXPIRE', lockKey, duration)
  end
end
