--[[
  Counts one more series of a group, once if it is counted twice in a row: the command may be sent again. The count begins again if
  none was added for some time.

  KEYS[1] counts      hash: digest of a group -> its count, when it was last raised (epoch milliseconds of this server), and the
                      digest of the series for which it was; a space between them
  KEYS[2] old counts  the same, from before the last time that the first was full
  ARGV[1] digest of the group
  ARGV[2] how many groups the first may have
  ARGV[3] after how long without another one a group is forgotten, milliseconds
  ARGV[4] digest of the series

  Returns the count
]]
--- @include "includes/generations"
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local count, atMs, series = string.match(recall(KEYS[1], KEYS[2], ARGV[1]) or '', '^(%d+) (%d+) (.*)$')
local isRecent = count and nowMs - tonumber(atMs) <= tonumber(ARGV[3])
if isRecent and series == ARGV[4] then return tonumber(count) end
local raised = (isRecent and tonumber(count) or 0) + 1
remember(KEYS[1], KEYS[2], ARGV[1], string.format('%d %d %s', raised, nowMs, ARGV[4]), ARGV[2], ARGV[3])
return raised
