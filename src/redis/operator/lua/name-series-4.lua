--[[
  Names the Event of a series, unless it has a name that is kept. A series that has the name that is proposed is counted as one more
  of its group, once if it is counted twice in a row: the command may be sent again. The count begins again if none was added for
  some time.

  KEYS[1] names      hash: digest of a series -> name of its Event
  KEYS[2] old names  the same, from before the last time that the first was full
  KEYS[3] counts     hash: digest of a group -> its count, when it was last raised (epoch milliseconds of this server), and the
                     digest of the series for which it was; a space between them
  KEYS[4] old counts the same, from before the last time that the first was full
  ARGV[1] digest of the series
  ARGV[2] name that is proposed
  ARGV[3] how many names, and how many groups, the first of each may have
  ARGV[4] time to live after the last use, milliseconds
  ARGV[5] `keep` its name if it has one, or `replace` it
  ARGV[6] digest of the group, or "" to count nothing
  ARGV[7] after how long without another one a group is forgotten, milliseconds

  Returns {name of the series, count of the group or 0}
]]
--- @include "includes/generations"
local series, proposed, most, ttl, group, forgottenAfter = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[6], ARGV[7]
local name = ARGV[5] == 'keep' and recall(KEYS[1], KEYS[2], series) or proposed
remember(KEYS[1], KEYS[2], series, name, most, ttl)
if group == '' or name ~= proposed then return { name, 0 } end

local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local count, atMs, last = string.match(recall(KEYS[3], KEYS[4], group) or '', '^(%d+) (%d+) (.*)$')
local isRecent = count and nowMs - tonumber(atMs) <= tonumber(forgottenAfter)
if isRecent and last == series then return { name, tonumber(count) } end
local raised = (isRecent and tonumber(count) or 0) + 1
remember(KEYS[3], KEYS[4], group, string.format('%d %d %s', raised, nowMs, series), most, forgottenAfter)
return { name, raised }
