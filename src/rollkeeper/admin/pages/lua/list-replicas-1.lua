--[[
  Lists the replicas that announced themselves and did not say that they go, and forgets those that have long been silent. Time is
  this server's.

  KEYS[1] replicas  hash: identity -> JSON {seenMs, told}
  ARGV[1] a replica that was not seen for so many milliseconds is forgotten

  Returns of each what it tells of itself, and how many milliseconds ago
]]
local forgetMs = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local entries = redis.call('HGETALL', KEYS[1])
local listed = {}
for index = 1, #entries, 2 do
  local entry = cjson.decode(entries[index + 1])
  local age = now - entry.seenMs
  if age > forgetMs then
    redis.call('HDEL', KEYS[1], entries[index])
  else
    listed[#listed + 1] = entry.told
    listed[#listed + 1] = age
  end
end
return listed
