--[[
  One attempt to hold the lease: renews it if it is ours, takes it if it is free or has expired. Time is this server's.

  KEYS[1] lease  hash: holder, epoch, durationMs, acquiredUs, renewedUs, expiresUs. Never expires itself, so that
                 the epoch never goes back.

  ARGV[1] identity  of who asks
  ARGV[2] leaseDurationMs

  Returns {"acquired" | "renewed" | "held", holder, epoch, durationMs, acquiredUs, renewedUs, remainingMs}.
]]
local identity, durationMs = ARGV[1], tonumber(ARGV[2])

local time = redis.call("TIME")
local nowUs = tonumber(time[1]) * 1000000 + tonumber(time[2])
local lease = redis.call("HMGET", KEYS[1], "holder", "epoch", "durationMs", "acquiredUs", "renewedUs", "expiresUs")
local holder, epoch, expiresUs = lease[1] or "", tonumber(lease[2] or "0"), tonumber(lease[6] or "0")
local isHeld = holder ~= "" and expiresUs > nowUs

if isHeld and holder ~= identity then
  local remainingMs = math.ceil((expiresUs - nowUs) / 1000)
  return {"held", holder, epoch, tonumber(lease[3]), lease[4], lease[5], remainingMs}
end

local digits = string.format("%.0f", nowUs)
local acquiredUs = lease[4]
local outcome = "renewed"
if not isHeld then
  outcome = "acquired"
  epoch = epoch + 1
  acquiredUs = digits
end
redis.call("HSET", KEYS[1], "holder", identity, "epoch", epoch, "durationMs", durationMs,
  "acquiredUs", acquiredUs, "renewedUs", digits, "expiresUs", string.format("%.0f", nowUs + durationMs * 1000))
return {outcome, identity, epoch, durationMs, acquiredUs, digits, durationMs}
