#!lua
--[[
  Puts objects that stand ready under other keys in the place of all that the store has. The log begins anew, with an
  opening that follows on nothing: whoever watches or pages must list again.

  KEYS[1] meta  hash: rev = last revision, writeId = last write
  KEYS[2] log   stream
  then for each resource that stands ready:
  KEYS          objects, index, objects that stand ready, index that stands ready

  What the store has of other resources is looked for, and is in the same slot.

  ARGV[1] first     the lowest revision of what stands ready
  ARGV[2] revision  of the store afterwards
  ARGV[3] writeId   unique to this replacement
  ARGV[4] count     of the objects that stand ready
  ARGV[5] objects   start of the keys of objects; what follows is the resource
  ARGV[6] index     start of the keys of indexes

  Returns {"ok"}, {"late"} when the store has reached `first`, or {"incomplete", count} when some of what stood ready
  is gone. Then nothing is changed.
]]
local META, LOG = KEYS[1], KEYS[2]
local first, revision, writeId, count = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local objects, index = ARGV[5], ARGV[6]

if tonumber(redis.call("HGET", META, "rev") or "0") >= first then
  return { "late" }
end
local ready = 0
for at = 5, #KEYS, 4 do
  ready = ready + redis.call("HLEN", KEYS[at])
end
if ready ~= count then
  return { "incomplete", ready }
end

local pattern = string.gsub(objects, "[%*%?%[%]\\%^]", "\\%0") .. "*"
local cursor = "0"
repeat
  local page = redis.call("SCAN", cursor, "MATCH", pattern, "COUNT", 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    redis.call("UNLINK", key, index .. string.sub(key, #objects + 1))
  end
until cursor == "0"

for at = 3, #KEYS, 4 do
  redis.call("RENAME", KEYS[at + 2], KEYS[at])
  redis.call("RENAME", KEYS[at + 3], KEYS[at + 1])
  redis.call("PERSIST", KEYS[at])
  redis.call("PERSIST", KEYS[at + 1])
end
redis.call("UNLINK", LOG)
redis.call("XADD", LOG, string.format("%.0f", revision) .. "-0",
  "t", "opened", "a", "0", "w", writeId, "b", "")
redis.call("HSET", META, "rev", string.format("%.0f", revision), "writeId", writeId)
return { "ok" }
