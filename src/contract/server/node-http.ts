// What the project uses of node:http at run time. An import of the module itself reads all of its
// exports, and so loads WebSocket and fetch, which takes 30 ms of the start and 3 MiB.
export const {
  createServer, IncomingMessage, maxHeaderSize, ServerResponse, STATUS_CODES, validateHeaderName,
  validateHeaderValue
} = process.getBuiltinModule('node:http')
