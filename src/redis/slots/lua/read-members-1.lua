--[[
  The replicas that live, and removes the others: one whose connection is closed on the server that saw it, and one that has not reported for long.
  On a server that was restarted or replaced, a connection that is not there says nothing.

  KEYS[1] members  hash: see report-member
  ARGV[1] the beginning of the channels that replicas subscribe to, up to their names
  ARGV[2] how old the last report may be, milliseconds

  Returns the replicas, each followed by its slots, separated by commas
]]
local members, alive, lives = KEYS[1], ARGV[1], tonumber(ARGV[2])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local runId
local living = {}
local all = redis.call('HGETALL', members)
for at = 1, #all, 2 do
  local replica, report = all[at], cjson.decode(all[at + 1])
  if report[1] > now then
    -- The clock went back, or this server's is behind that of the former one: the report counts from now on.
    report[1] = now
    redis.call('HSET', members, replica, cjson.encode(report))
  end
  local isGone = now - report[1] > lives
  if not isGone and report[2] ~= '' and redis.call('PUBSUB', 'SHARDNUMSUB', alive .. replica)[2] == 0 then
    runId = runId or string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
    isGone = report[2] == runId
  end
  if isGone then
    redis.call('HDEL', members, replica)
  else
    table.insert(living, replica)
    table.insert(living, report[3])
  end
end
return living
