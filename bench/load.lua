-- Requests for wrk: each path of a file in turn, or extensions of the sessions at these paths.
-- wrk … URL -- FILE TOKEN [extend]

local paths, isExtension, count = {}, false, -1 -- wrk asks for one request that it does not send

function init(args)
  for path in io.lines(args[1]) do paths[#paths + 1] = path end
  if args[2] ~= "" then wrk.headers["Authorization"] = "Bearer " .. args[2] end
  isExtension = args[3] == "extend"
end

function request()
  local turn = math.max(count, 0)
  count = count + 1
  local path = paths[turn % #paths + 1]
  if not isExtension then return wrk.format("GET", path) end
  local version = math.floor(turn / #paths) + 1
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Idempotency-Key"] = path:match("[^/]*/extend$"):gsub("/", "-") .. version
  local body = '{"expectedLeaseGeneration":1,"expectedVersion":%d,"ttlMs":86400000}'
  return wrk.format("POST", path, wrk.headers, body:format(version))
end
