-- The traces of adds that become one run, as mergeTraces has it: lists of traceparents, the one to go on with first, each once.
-- 17 are kept: that one, and MAX_TRACE_LINKS.
local function mergeTraces(first, second)
  local merged, seen = {}, {}
  for _, traces in ipairs({ first, second }) do
    for _, traceparent in ipairs(traces) do
      if not seen[traceparent] and #merged < 17 then
        seen[traceparent] = true
        table.insert(merged, traceparent)
      end
    end
  end
  return merged
end
