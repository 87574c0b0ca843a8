-- What shows both of two resourceVersions, as newerResourceVersion has it: the newer of two decimal numbers of any length;
-- of opaque ones a name for the pair.
local function isOpaque(version)
  return version:find('%D') or version:find('^0.')
end
local function newer(a, b)
  if not a or a == '' or a == b then return b end
  if b == '' then return a end
  if isOpaque(a) or isOpaque(b) then return '?' .. redis.sha1hex(a .. ' ' .. b) end
  if #a ~= #b then return #a > #b and a or b end
  return a > b and a or b
end

-- Raises the resourceVersions that the actor knows to those of ARGV from `first` on: resource, resourceVersion, ...
local function raiseVersions(actorKey, kind, first)
  for index = first, #ARGV, 2 do
    local field = kind .. ':' .. ARGV[index]
    local known = redis.call('HGET', actorKey, field)
    local newest = newer(known, ARGV[index + 1])
    if newest ~= known then redis.call('HSET', actorKey, field, newest) end
  end
end
