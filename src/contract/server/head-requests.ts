// Finds out whether a header that is malformed, too large or too late is that of HEAD. Its error
// has no body (RFC 9110, section 9.3.2): a proxy may take one for the next response.
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ServedSocket } from './open-connections.ts'

/** Undocumented, but the only way: where a parser of Node has its listeners. */
const onBegin = 0
const onRead = 5

/** Of a read: how many bytes were parsed, or an error. */
type Result = number | { bytesParsed?: number }

interface Parser {
  incoming: IncomingMessage | null
  getCurrentBuffer: () => Buffer
  [onBegin]: () => void
  [onRead]: (result: Result) => void
}

/** Sockets whose last header may begin with HEAD, and is not complete. */
const heads = new WeakSet<Socket>()

/** Remembers how incomplete headers begin: Node shows only the last bytes that it has read. */
export function followHeads (server: Server): void {
  server.on('connection', (socket: Socket & { parser: Parser }) => {
    const { parser } = socket
    const endRead = parser[onRead]
    let hasBegun = false
    let before: IncomingMessage | null
    parser[onBegin] = () => {
      hasBegun = true
      before = parser.incoming
    }
    parser[onRead] = result => {
      if (hasBegun) {
        hasBegun = false
        heads.delete(socket)
        const isPart = parser.incoming === before
        if (isPart && beginsHead(parser.getCurrentBuffer(), result, before)) heads.add(socket)
      }
      endRead(result)
    }
  })
}

/**
 * Whether the last request that begins in these bytes may be HEAD.
 * @param before the request before it, whose body may look like a request
 */
function beginsHead (bytes: Buffer, result: Result, before: IncomingMessage | null): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = before?.headers ?? {}
  if (length !== undefined || coding !== undefined) {
    return /HEAD |HE?A?D?$/.test(bytes.toString('latin1'))
  }
  const parsed = typeof result === 'number' ? result : result.bytesParsed
  const blankLine = bytes.subarray(0, parsed).lastIndexOf('\r\n\r\n')
  const beginning = bytes.toString('latin1', blankLine + 1).trimStart()
  return beginning !== '' && 'HEAD '.startsWith(beginning.slice(0, 5))
}

/** Whether a request whose bytes are malformed or do not arrive may be HEAD. */
export function mayBeHead (socket: ServedSocket): boolean {
  const request = socket.parser?.incoming
  return request?.complete === false ? request.method === 'HEAD' : heads.has(socket)
}
