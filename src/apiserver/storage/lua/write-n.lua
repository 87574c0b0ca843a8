#!lua
--[[
  Carries out writes one after the other and logs them; each succeeds or fails by itself.

  KEYS[1] meta     hash: rev = last revision, writeId = last write
  KEYS[2] log      stream, one entry "revision-0" for each write
  then for each resource that is written to:
  KEYS     objects hash: "namespace\0name" -> "revision json"
  KEYS     index   sorted set of the same fields, all of score 0: the order of lists

  ARGV[1] maxLogEntries
  ARGV[2] writer      unique to this process
  ARGV[3] number      of the first write; unique to it is "writer.number"
  ARGV[4] n           how many resources
  ARGV[5..4+n]        their names
  then for each write:
  ARGV     action     "created", "updated" or "deleted"
  ARGV     place      of its resource, from 1
  ARGV     field      "namespace\0name"
  ARGV     expected   revision, decimal; empty of a creation
  ARGV     text       the object as JSON, without resourceVersion; of a deletion "return" to be told what is removed

  Returns {revision before, writeId before, outcome...}. An outcome is the new revision, {"removed", revision,
  "revision json"}, {"exists"}, {"missing"} or {"conflict", "revision json" of what is stored}. Returns {} and does
  nothing on a store that has not been opened.
]]
local META, LOG = KEYS[1], KEYS[2]
local maxLogEntries, writer, number, resources = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local meta = redis.call("HMGET", META, "rev", "writeId")
if not meta[1] then
  return {}
end
local revision, before = tonumber(meta[1]), meta[2] or ""
local reply = { revision, before }

local function refusalOf(action, current, expected)
  if action == "created" then
    return current and { "exists" }
  elseif not current then
    return { "missing" }
  end
  return string.sub(current, 1, #expected + 1) ~= expected .. " " and { "conflict", current }
end

for at = 5 + resources, #ARGV, 5 do
  local action, place, field, text = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], ARGV[at + 4]
  local objects, index, resource = KEYS[1 + 2 * place], KEYS[2 + 2 * place], ARGV[4 + place]
  local current = redis.call("HGET", objects, field)
  local refusal = refusalOf(action, current, ARGV[at + 3])
  if refusal then
    reply[#reply + 1] = refusal
  else
    revision = revision + 1
    local digits = string.format("%.0f", revision)
    local id = writer .. "." .. string.format("%.0f", number)
    -- The log first: of what this server will not do, it does nothing at all.
    if action == "created" then
      redis.call("XADD", LOG, "MAXLEN", "~", maxLogEntries, digits .. "-0",
        "t", action, "r", resource, "f", field, "w", id, "b", before, "o", text)
      redis.call("HSET", objects, field, digits .. " " .. text)
      redis.call("ZADD", index, 0, field)
    elseif action == "updated" then
      redis.call("XADD", LOG, "MAXLEN", "~", maxLogEntries, digits .. "-0",
        "t", action, "r", resource, "f", field, "w", id, "b", before, "o", text, "p", current)
      redis.call("HSET", objects, field, digits .. " " .. text)
    else
      redis.call("XADD", LOG, "MAXLEN", "~", maxLogEntries, digits .. "-0",
        "t", action, "r", resource, "f", field, "w", id, "b", before, "p", current)
      redis.call("HDEL", objects, field)
      redis.call("ZREM", index, field)
    end
    before = id
    reply[#reply + 1] = text == "return" and action == "deleted" and { "removed", revision, current } or revision
  end
  number = number + 1
end

if before ~= meta[2] then
  redis.call("HSET", META, "rev", string.format("%.0f", revision), "writeId", before)
end
return reply
