// Serves the requests of a connection one after another, although a client may send them without
// waiting.
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { answerEarly } from './socket-errors.ts'

/** @param isPipelined a request of this connection was ever sent before an earlier response */
export type OrderedListener = (
  ...parameters: [...Parameters<RequestListener>, isPipelined: boolean]
) => void

/** A connection with fewer waiting requests is never closed because of other connections. */
const fewRequests = 16

/**
 * Serves the requests of a connection one after another (RFC 9112, section 9.3.2) and reads no more
 * of them while one waits. Node would start all at once.
 * @param maxWaiting requests on other connections; beyond it a connection with many is closed
 */
export function serveInOrder (maxWaiting: number, listener: OrderedListener): RequestListener {
  const waitingOn = new Map<Socket, number>()
  let waiting = 0

  /** Returns how many requests wait on this connection then. */
  function count (socket: Socket, change: number): number {
    const ofSocket = (waitingOn.get(socket) ?? 0) + change
    waitingOn.set(socket, ofSocket)
    waiting += change
    return ofSocket
  }

  function follow (socket: Socket): void {
    // Reading the body of a request resumes the connection.
    socket.on('resume', () => waitingOn.get(socket) === 0 || socket.pause())
    socket.once('close', () => {
      count(socket, -(waitingOn.get(socket) as number))
      waitingOn.delete(socket)
    })
  }

  const serve: OrderedListener = (request, response, isPipelined) => {
    // The service does not support Upgrade. Node drops the bytes that arrive together with it.
    if (request.headers.upgrade !== undefined) {
      response.shouldKeepAlive = false
      answerEarly(request)
    }
    listener(request, response, isPipelined)
  }

  return (request, response) => {
    // After PRI (RFC 9113, section 3.4) Node destroys the connection with its pending responses.
    if (request.method === 'PRI') request.method = 'pri'
    // Node gives a response its socket once the earlier responses of the connection are sent.
    const { socket } = request
    if (response.socket !== null) return serve(request, response, waitingOn.has(socket))
    const ofSocket = waitingOn.get(socket)
    if (ofSocket === undefined) follow(socket)
    else if (ofSocket >= fewRequests && waiting - ofSocket >= maxWaiting) return endParsing(socket)
    count(socket, 1)
    socket.pause()
    response.once('socket', () => {
      if (count(socket, -1) === 0) socket.resume()
      // Others get a turn of the event loop as well. Node has not finished this step either: it
      // would finish a response twice that is sent at once.
      setImmediate(serve, request, response, true)
    })
  }
}

type ParsedSocket = Socket & { parser?: { onIncoming: () => number } | null }

/** Closes a connection, and drops the requests in the bytes that its parser has. */
function endParsing (socket: ParsedSocket): void {
  // Undocumented, but the only way: Node would make a response for each of thousands of requests.
  // The result means that no body follows.
  if (socket.parser) socket.parser.onIncoming = () => 1
  socket.destroy()
}
