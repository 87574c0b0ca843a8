--[[
  One attempt to hold the lease: renews it if it is ours, takes it if it is free or has expired, or from a holder that
  was seen to be gone. Time is this server's.

  A command that is sent again is answered as the first time. If this server's clock went back, the lease lasts no longer
  than its duration from now on.

  KEYS[1] lease  hash: holder, epoch, durationMs, acquiredUs, renewedUs, expiresUs, attempt and outcome (of the holder's
                 last attempt), released ("<identity> <attempt>" of the last release), and witness ("<epoch> <where the
                 holder can be seen>": what stands there of another epoch is of a holder that knew nothing of it). Never
                 expires itself, so that the epoch never goes back.

  ARGV[1] identity  of who asks
  ARGV[2] leaseDurationMs
  ARGV[3] epochAbove  the epoch must be greater
  ARGV[4] witness  where who asks can be seen, or ""
  ARGV[5] holder that was seen to be gone, or ""
  ARGV[6] its epoch
  ARGV[7] where it was looked for
  ARGV[8] attempt  the number of this attempt among those of the identity

  Returns {"acquired" | "renewed" | "held", holder, epoch, durationMs, acquiredUs, renewedUs, remainingMs, witness}.
]]
local identity, durationMs, epochAbove, witness = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local gone, goneEpoch, lookedAt, attempt = ARGV[5], ARGV[6], ARGV[7], ARGV[8]

local time = redis.call("TIME")
local nowUs = tonumber(time[1]) * 1000000 + tonumber(time[2])
local lease = redis.call("HMGET", KEYS[1], "holder", "epoch", "durationMs", "acquiredUs", "renewedUs", "expiresUs", "witness",
  "attempt", "outcome")
local holder, epoch, expiresUs = lease[1] or "", tonumber(lease[2] or "0"), tonumber(lease[6] or "0")
local seenAt = lease[7] or ""
local longestUs = nowUs + tonumber(lease[3] or "0") * 1000
if expiresUs > longestUs then
  expiresUs = longestUs
  redis.call("HSET", KEYS[1], "expiresUs", string.format("%.0f", expiresUs))
end
local isHeld = holder ~= "" and expiresUs > nowUs
local isDeposed = gone ~= "" and holder == gone and lease[2] == goneEpoch
  and lookedAt ~= "" and seenAt == goneEpoch .. " " .. lookedAt

if isHeld and holder ~= identity and not isDeposed then
  local remainingMs = math.ceil((expiresUs - nowUs) / 1000)
  return {"held", holder, epoch, tonumber(lease[3]), lease[4], lease[5], remainingMs, seenAt}
end

if isHeld and holder == identity and lease[8] == attempt then
  local remainingMs = math.ceil((expiresUs - nowUs) / 1000)
  return {lease[9], holder, epoch, tonumber(lease[3]), lease[4], lease[5], remainingMs, seenAt}
end

local digits = string.format("%.0f", nowUs)
local acquiredUs = lease[4]
local outcome = "renewed"
if not isHeld or holder ~= identity or epoch <= epochAbove then
  outcome = "acquired"
  epoch = math.max(epoch, epochAbove) + 1
  acquiredUs = digits
end
seenAt = witness ~= "" and epoch .. " " .. witness or ""
redis.call("HSET", KEYS[1], "holder", identity, "epoch", epoch, "durationMs", durationMs,
  "acquiredUs", acquiredUs, "renewedUs", digits, "expiresUs", string.format("%.0f", nowUs + durationMs * 1000),
  "witness", seenAt, "attempt", attempt, "outcome", outcome)
return {outcome, identity, epoch, durationMs, acquiredUs, digits, durationMs, seenAt}
