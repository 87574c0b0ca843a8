#!lua flags=allow-oom
--[[
  Opens the store on a server that has not been asked to since it started or became a master: whatever it has lost, no
  revision that was handed out before is handed out again. The revision goes ahead to 100 for each millisecond since 2024,
  which no store reaches by writing, and further if the caller has seen more. The log tells of it, so that a watch from
  before goes on, and one from what was lost does not.

  KEYS[1] meta  hash: rev = last revision, writeId = last write, incarnation = of the server that it was opened on
  KEYS[2] log   stream, one entry "revision-0" for each write

  ARGV[1] seen           the highest revision that the caller has seen, decimal
  ARGV[2] writeId        unique to this opening
  ARGV[3] maxLogEntries

  Returns the revision.
]]
local seen, writeId, maxLogEntries = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local SINCE = 1704067200

--- @include "includes/incarnation"
local incarnation = incarnationOfServer()
local meta = redis.call("HMGET", KEYS[1], "rev", "writeId", "incarnation")
local last, before = tonumber(meta[1] or "0"), meta[2] or ""
if meta[1] and meta[3] == incarnation and last >= seen then
  return last
end

local time = redis.call("TIME")
local floor = (tonumber(time[1]) - SINCE) * 100000 + math.floor(tonumber(time[2]) / 10)
local revision = math.max(last + 1, seen + 1, floor)
local digits = string.format("%.0f", revision)
redis.call("HSET", KEYS[1], "rev", digits, "writeId", writeId, "incarnation", incarnation)
redis.call("XADD", KEYS[2], "MAXLEN", "~", maxLogEntries, digits .. "-0",
  "t", "opened", "a", string.format("%.0f", last), "w", writeId, "b", before)
return revision
