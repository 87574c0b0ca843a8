--[[
  Whether the add of a timer, as JSON, was asked for by a run of its key (REASONS_OF_RUNS in work-queue.ts), and not by a change.
]]
local function isReasonOfRuns(reason)
  return reason == 'requeue' or reason == 'retry' or reason == 'parked'
end

local function isOfRuns(data)
  return data and isReasonOfRuns(cjson.decode(data).reason)
end
