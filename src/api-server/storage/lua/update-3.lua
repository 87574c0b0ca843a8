--[[
  Replaces an object that is at the expected revision, and logs it with what was there before.

  KEYS[1] meta     hash: rev = last revision, writeId = last write
  KEYS[2] objects  hash of one resource: "namespace\0name" -> "revision json"
  KEYS[3] log      stream, one entry "revision-0" for each write

  ARGV[1] field    "namespace\0name"
  ARGV[2] resource
  ARGV[3] text     the object as JSON, without resourceVersion
  ARGV[4] writeId  unique to this write
  ARGV[5] maxLogEntries
  ARGV[6] expected revision, decimal

  Returns {"ok", revision}, {"missing"} or {"conflict", "revision json" of what is stored}.
]]
local field, resource, text, writeId, maxLogEntries = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local expected = ARGV[6]

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
local digits = string.format("%.0f", revision)
redis.call("HSET", KEYS[2], field, digits .. " " .. text)
redis.call("XADD", KEYS[3], "MAXLEN", "~", maxLogEntries, digits .. "-0",
  "t", "updated", "r", resource, "f", field, "w", writeId, "b", before, "o", text, "p", current)
return {"ok", revision}
