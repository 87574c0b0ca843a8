--[[
  Removes an object that is at the expected revision, and logs its last state.

  KEYS[1] meta     hash: rev = last revision, writeId = last write
  KEYS[2] objects  hash of one resource: "namespace\0name" -> "revision json"
  KEYS[3] index    sorted set of the same fields, all of score 0
  KEYS[4] log      stream, one entry "revision-0" for each write

  ARGV[1] field    "namespace\0name"
  ARGV[2] resource
  ARGV[3] writeId  unique to this write
  ARGV[4] maxLogEntries
  ARGV[5] expected revision, decimal

  Returns {"ok", revision, "revision json" of what was removed}, {"missing"} or
  {"conflict", "revision json" of what is stored}.
]]
local field, resource, writeId, maxLogEntries, expected = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local current = redis.call("HGET", KEYS[2], field)
if not current then
  return {"missing"}
end
if string.sub(current, 1, #expected + 1) ~= expected .. " " then
  return {"conflict", current}
end

local revision = redis.call("HINCRBY", KEYS[1], "rev", 1)
local before = redis.call("HGET", KEYS[1], "writeId") or ""
redis.call("HSET", KEYS[1], "writeId", writeId)
redis.call("HDEL", KEYS[2], field)
redis.call("ZREM", KEYS[3], field)
redis.call("XADD", KEYS[4], "MAXLEN", "~", maxLogEntries, string.format("%.0f", revision) .. "-0",
  "t", "deleted", "r", resource, "f", field, "w", writeId, "b", before, "p", current)
return {"ok", revision, current}
