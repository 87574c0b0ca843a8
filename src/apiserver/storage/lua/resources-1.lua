#!lua flags=no-writes
--[[
  Which resources have objects, and at which revision of the store that is so.

  KEYS[1] meta   hash: rev = last revision
  ARGV[1] start  of the keys of objects; what follows is the resource

  Returns {revision (0 of a store that was never opened), resource...}.
]]
local start = ARGV[1]
local pattern = string.gsub(start, "[%*%?%[%]\\%^]", "\\%0") .. "*"

local reply = { tonumber(redis.call("HGET", KEYS[1], "rev") or "0") }
local known, cursor = {}, "0"
repeat
  local page = redis.call("SCAN", cursor, "MATCH", pattern, "COUNT", 1000)
  cursor = page[1]
  -- A scan may come across a key twice.
  for _, key in ipairs(page[2]) do
    if not known[key] then
      known[key] = true
      reply[#reply + 1] = string.sub(key, #start + 1)
    end
  end
until cursor == "0"
return reply
