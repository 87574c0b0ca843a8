--[[
  Whether a reader that has followed the log up to a write may go on from there: not when that write is no part of
  this history, because the data was lost or put back to an earlier state, nor when the one after it was trimmed.

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
  -- The write after it names it. That one is looked at, because it is what the reader needs next.
  local nextId = string.format("%.0f-0", tonumber(revision) + 1)
  local entry = redis.call("XRANGE", KEYS[2], nextId, nextId)[1]
  if entry then
    for i = 1, #entry[2], 2 do
      if entry[2][i] == "b" and entry[2][i + 1] == writeId then
        known = 1
      end
    end
  end
end
return {known, tonumber(last), lastWriteId}
