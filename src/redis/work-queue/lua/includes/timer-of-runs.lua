--[[
  Whether the add of a timer, as JSON, was asked for by a run of its key (REASONS_OF_RUNS in work-queue.ts), and not by a change.
]]
local function isOfRuns(data)
  local reason = data and cjson.decode(data).reason
  return reason == 'requeue' or reason == 'retry' or reason == 'parked'
end
