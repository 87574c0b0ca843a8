--[[
  A stretch of one resource's objects in order, and the revision of the store at that moment.

  KEYS[1] meta     hash: rev = last revision
  KEYS[2] objects  hash of the resource: "namespace\0name" -> "revision json"
  KEYS[3] index    sorted set of the same fields, all of score 0

  ARGV[1] from     bound for ZRANGEBYLEX
  ARGV[2] to       bound for ZRANGEBYLEX
  ARGV[3] limit    at most so many objects; small, because nobody else is served meanwhile
  ARGV[4] length   no more objects once those read have so many bytes together

  Returns {revision (0 of a store that was never opened), how many more there are up to `to`, fields, values}.
]]
local from, to, limit, length = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
-- So many are read to see how long they are.
local PROBE = 2

local revision = tonumber(redis.call("HGET", KEYS[1], "rev") or "0")
local fields = redis.call("ZRANGEBYLEX", KEYS[3], from, to, "LIMIT", 0, limit)
if #fields == 0 then
  return {revision, 0, {}, {}}
end
local values = {}
local read = 0
while #values < #fields and read < length do
  local step = PROBE
  if read > 0 then
    step = math.max(math.floor((length - read) * #values / read), 1)
  end
  local last = math.min(#values + step, #fields)
  for _, value in ipairs(redis.call("HMGET", KEYS[2], unpack(fields, #values + 1, last))) do
    read = read + #value
    values[#values + 1] = value
  end
end
local isCut = #values < #fields
for i = #fields, #values + 1, -1 do
  fields[i] = nil
end
local remaining = 0
if isCut or #fields == limit then
  remaining = redis.call("ZLEXCOUNT", KEYS[3], "(" .. fields[#fields], to)
end
return {revision, remaining, fields, values}
