#!lua flags=no-writes
--[[
  Whether the store was opened on the server that answers (see open-2.lua), and is not behind what the caller has seen.
  Asked first, because it writes nothing: Redis refuses every script that may write while its disk is full, and reads go on.

  KEYS[1] meta  hash: rev = last revision, incarnation = of the server that it was opened on
  ARGV[1] seen  the highest revision that the caller has seen, decimal

  Returns the revision; false where the store has to be opened.
]]
--- @include "includes/incarnation"
local meta = redis.call("HMGET", KEYS[1], "rev", "incarnation")
local last = tonumber(meta[1] or "0")
if meta[1] and meta[2] == incarnationOfServer() and last >= tonumber(ARGV[1]) then
  return last
end
return false
