#!lua
--[[
  Writes nothing. Redis refuses a script that may write, before it runs, exactly when it refuses writes: as a replica, without
  memory or enough replicas, or while it cannot write to its disk.

  KEYS[1] meta  names the server that is asked

  Returns 1
]]
return 1
