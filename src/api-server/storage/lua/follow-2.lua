--[[
  Whether a reader that has followed the log up to a write may go on from there: false when that write is not part
  of this history, because the data was lost or put back to an earlier state.

  KEYS[1] meta  hash: rev = last revision, writeId = last write
  KEYS[2] log   stream, one entry "revision-0" for each write

  ARGV[1] revision  that the reader has seen last
  ARGV[2] writeId   of that revision

  Returns {1 or 0, revision of the store, writeId of its last write}.
]]
local revision, writeId = ARGV[1], ARGV[2]

local meta = redis.call("HMGET", KEYS[1], "rev", "writeId")
local last, lastWriteId = meta[1] or "1", meta[2] or ""

local known = 0
if last == revision then
  known = lastWriteId == writeId and 1 or 0
else
  local entry = redis.call("XRANGE", KEYS[2], revision .. "-0", revision .. "-0")[1]
  if entry then
    for i = 1, #entry[2], 2 do
      if entry[2][i] == "w" and entry[2][i + 1] == writeId then
        known = 1
      end
    end
  end
end
return {known, tonumber(last), lastWriteId}
