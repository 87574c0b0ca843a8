--[[
  Names the Event of a series, unless it has a name that is kept.

  KEYS[1] names      hash: digest of a series -> name of its Event
  KEYS[2] old names  the same, from before the last time that the first was full
  ARGV[1] digest of the series
  ARGV[2] name that is proposed
  ARGV[3] how many names the first may have
  ARGV[4] time to live after the last use, milliseconds
  ARGV[5] `keep` its name if it has one, or `replace` it

  Returns the name of the series
]]
--- @include "includes/generations"
local name = ARGV[5] == 'keep' and recall(KEYS[1], KEYS[2], ARGV[1]) or ARGV[2]
remember(KEYS[1], KEYS[2], ARGV[1], name, ARGV[3], ARGV[4])
return name
