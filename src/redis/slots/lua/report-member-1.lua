--[[
  A replica reports the slots whose copies there are current. Published if that is new: reports are also signs of life.

  KEYS[1] members  hash: by replica its last report as JSON: [time, run id of the server that saw its connection or "", slots].
                   A replica whose connection is closed is removed by whoever reads, and one that reports no more by the leader.
  ARGV[1] replica
  ARGV[2] slots, separated by commas
  ARGV[3] channel that the replica alone subscribes to
  ARGV[4] channel on which news of replicas are told

  Returns 1 if the report is new, else 0
]]
local members, replica, slots, alive, channel = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local seenAt = ''
if redis.call('PUBSUB', 'SHARDNUMSUB', alive)[2] > 0 then
  seenAt = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local before = redis.call('HGET', members, replica)
redis.call('HSET', members, replica, cjson.encode({ now, seenAt, slots }))
if before and cjson.decode(before)[3] == slots then return 0 end
redis.call('PUBLISH', channel, '')
return 1
