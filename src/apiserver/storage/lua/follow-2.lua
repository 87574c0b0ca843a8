--[[
  Whether a reader that has followed the log up to a write may go on from there: not when that write is no part of
  this history, because the data was lost or put back to an earlier state, nor when the one after it was trimmed.

  KEYS[1] meta  hash: rev = last revision, writeId = last write
  KEYS[2] log   stream, one entry "revision-0" for each write and each opening

  ARGV[1] revision  that the reader has seen last
  ARGV[2] writeId   of that revision

  Returns {1 or 0, revision of the store, writeId of its last write}; revision 0 is a store that was never opened.
]]
local revision, writeId = ARGV[1], ARGV[2]

local meta = redis.call("HMGET", KEYS[1], "rev", "writeId")
local last, lastWriteId = meta[1] or "0", meta[2] or ""

local known = 0
if last == revision then
  known = lastWriteId == writeId and 1 or 0
else
  -- The entry after it names it. That one is looked at, because it is what the reader needs next.
  local after = string.format("(%.0f-0", tonumber(revision))
  local entry = redis.call("XRANGE", KEYS[2], after, "+", "COUNT", 1)[1]
  if entry then
    for i = 1, #entry[2], 2 do
      if entry[2][i] == "b" and entry[2][i + 1] == writeId then
        known = 1
      end
    end
  end
end
return {known, tonumber(last), lastWriteId}
