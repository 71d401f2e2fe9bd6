// Serves the requests of a connection one after another, although a client may send them without waiting.
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** @param isPipelined a request of this connection was sent before the response to an earlier one, now or before */
export type OrderedListener = (...parameters: [...Parameters<RequestListener>, isPipelined: boolean]) => void

/** A connection with fewer waiting requests is never closed because of other connections. */
const fewRequests = 16

/**
 * Serves the requests of a connection one after another (RFC 9112, section 9.3.2) and reads no more of them while one
 * waits. Node would start all at once.
 * @param maxWaiting requests on other connections; beyond it a connection with more than a few is closed
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
    // Node drops the bytes that arrive together with an Upgrade, which the service does not support.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    listener(request, response, isPipelined)
  }

  return (request, response) => {
    // Node would destroy the connection after this method (RFC 9113, section 3.4), with the responses that are on it.
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
      // Node has not finished this step: a response that is sent at once would be finished twice.
      process.nextTick(serve, request, response, true)
    })
  }
}

/** Closes a connection. Its parser goes on with the bytes that it has, thousands of requests: nothing handles them. */
function endParsing (socket: Socket & { parser?: { onIncoming: () => number } | null }): void {
  // Undocumented, but the only way: Node would make a response for each. The result means that no body follows.
  if (socket.parser) socket.parser.onIncoming = () => 1
  socket.destroy()
}
