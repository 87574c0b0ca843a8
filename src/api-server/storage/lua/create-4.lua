--[[
  Stores a new object and logs it.

  KEYS[1] meta     hash: rev = last revision, writeId = last write
  KEYS[2] objects  hash of one resource: "namespace\0name" -> "revision json"
  KEYS[3] index    sorted set of the same fields, all of score 0: the order of lists
  KEYS[4] log      stream, one entry "revision-0" for each write

  ARGV[1] field    "namespace\0name"
  ARGV[2] resource
  ARGV[3] text     the object as JSON, without resourceVersion
  ARGV[4] writeId  unique to this write
  ARGV[5] maxLogEntries

  Returns {"ok", revision} or {"exists"}.
]]
local field, resource, text, writeId, maxLogEntries = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if redis.call("HEXISTS", KEYS[2], field) == 1 then
  return {"exists"}
end

-- An empty store is at revision 1: Kubernetes gives "0" a meaning of its own.
local revision = redis.call("HINCRBY", KEYS[1], "rev", 1)
if revision == 1 then
  revision = redis.call("HINCRBY", KEYS[1], "rev", 1)
end
local before = redis.call("HGET", KEYS[1], "writeId") or ""
redis.call("HSET", KEYS[1], "writeId", writeId)
local digits = string.format("%.0f", revision)
redis.call("HSET", KEYS[2], field, digits .. " " .. text)
redis.call("ZADD", KEYS[3], 0, field)
redis.call("XADD", KEYS[4], "MAXLEN", "~", maxLogEntries, digits .. "-0",
  "t", "created", "r", resource, "f", field, "w", writeId, "b", before, "o", text)
return {"ok", revision}
