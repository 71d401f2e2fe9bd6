-- Lets wrk send plants with new ids. Its argument is the token.
local head, id

function init(args)
  head = "POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " .. args[1] ..
    "\r\nContent-Type: application/json\r\nContent-Length: "
  id = os.time() * 1000000
end

function request()
  id = id + 1
  local body = string.format('{"id":%d,"name":"Boston fern","tag":"fern"}', id)
  return head .. #body .. "\r\n\r\n" .. body
end
