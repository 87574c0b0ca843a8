-- Which life of which server this is: it has a new run_id each time it starts, and a new master_replid each time it becomes a master.
local function incarnationOfServer()
  return string.match(redis.call("INFO", "server"), "run_id:(%w+)")
    .. "." .. string.match(redis.call("INFO", "replication"), "master_replid:(%w+)")
end
