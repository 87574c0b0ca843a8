--[[
  Lists the replicas that were there lately, and forgets those that have long been gone. Time is this server's.

  KEYS[1] replicas  hash: identity -> JSON {seenMs, told}
  ARGV[1] a replica that was seen within so many milliseconds is listed
  ARGV[2] one that was not seen for so many milliseconds is forgotten

  Returns what each tells of itself
]]
local freshMs, forgetMs = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local entries = redis.call('HGETALL', KEYS[1])
local listed = {}
for index = 1, #entries, 2 do
  local entry = cjson.decode(entries[index + 1])
  local age = now - entry.seenMs
  if age <= freshMs then
    listed[#listed + 1] = entry.told
  elseif age > forgetMs then
    redis.call('HDEL', KEYS[1], entries[index])
  end
end
return listed
