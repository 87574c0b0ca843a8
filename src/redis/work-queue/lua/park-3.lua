--[[
  Parks the key at once, unless a run of it waits.

  KEYS[1] parked    hash: key -> JSON {error, retries, parkedAtMs}
  KEYS[2] failures  hash: key -> failures in a row
  KEYS[3] pending   hash: key -> JSON [rank, reason, readySinceMs, traces, place, sequence]
  ARGV[1] key
  ARGV[2] error, for people

  Returns 1 when parked, else 0
]]
local parkedKey, failuresKey, pendingKey = KEYS[1], KEYS[2], KEYS[3]
local key, message = ARGV[1], ARGV[2]

--- @include "includes/parking"
return parkKey(parkedKey, failuresKey, pendingKey, key, message) and 1 or 0
