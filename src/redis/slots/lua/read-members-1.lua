--[[
  The last reports of the replicas, without those whose connection is closed on the server that saw it: these are removed. On a server that was
  restarted or replaced, a connection that is not there says nothing. The reader judges whether the reports go on: the clock of this server may jump.

  KEYS[1] members  hash: see report-member
  ARGV[1] the beginning of the channels that replicas subscribe to, up to their names

  Returns the time of this server in epoch milliseconds, then the replicas, each followed by its report as it is stored
]]
local members, alive = KEYS[1], ARGV[1]

local time = redis.call('TIME')
local reply = { tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) }
local runId
local all = redis.call('HGETALL', members)
for at = 1, #all, 2 do
  local replica, seenAt = all[at], cjson.decode(all[at + 1])[2]
  local isGone = false
  if seenAt ~= '' and redis.call('PUBSUB', 'SHARDNUMSUB', alive .. replica)[2] == 0 then
    runId = runId or string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
    isGone = seenAt == runId
  end
  if isGone then
    redis.call('HDEL', members, replica)
  else
    table.insert(reply, replica)
    table.insert(reply, all[at + 1])
  end
end
return reply
