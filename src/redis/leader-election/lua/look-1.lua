--[[
  How many connections make a holder visible here, and where "here" is. A process that dies loses its subscriptions when
  the kernel closes its connections; no timeout is in between.

  KEYS[1] lease  not read: in a Cluster, the channel is served where this key is

  ARGV[1] channel that the holder subscribes to

  Returns {number of subscribers, run id of this server, "" where it has none}.
]]
local channel = ARGV[1]

local subscribers = redis.call("PUBSUB", "SHARDNUMSUB", channel)
local runId = string.match(redis.call("INFO", "server"), "run_id:(%w+)")
return {subscribers[2], runId or ""}
