-- Which run of which server this is: it changes with a restart and with a failover. '' if Redis does not allow to ask.
local function serverRun()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end
