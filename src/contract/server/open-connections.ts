// The open connections of a server: their limit, and the time limit of those that stall.
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'

/**
 * A connection of a server. Only these undocumented fields show which response is pending on it,
 * and which request arrives or arrived last.
 */
export type ServedSocket = Socket & {
  _httpMessage?: ServerResponse & Answerable | null
  parser?: { incoming?: IncomingMessage | null } | null
}

/** A response that learns of the error which its socket gets in its place. */
export interface Answerable { answered?: (status: number) => void }

export function connectionsOf (server: HttpServer): ReadonlySet<ServedSocket> {
  const open = new Set<ServedSocket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

export interface ConnectionCounts {
  /** The open connections of each thread. */
  connections: Int32Array
  /** The index of this thread. */
  thread: number
}

/**
 * Closes connections at once when all threads together have this many. Without a descriptor Node
 * would close them too, but not report it.
 */
export function limitConnections (
  server: Server,
  limit: number,
  { connections, thread }: ConnectionCounts,
  onConnectionDropped: () => void
): void {
  /** How many more connections all threads may have. */
  const countFree = () => {
    let free = limit
    for (let row = 0; row < connections.length; row++) free -= Atomics.load(connections, row)
    return free
  }
  // Node compares it to the connections of this thread.
  const ofThread = () => countFree() + Atomics.load(connections, thread)
  Object.defineProperty(server, 'maxConnections', { get: ofThread })
  server.on('drop', onConnectionDropped)
  server.on('connection', (socket: Socket) => {
    Atomics.add(connections, thread, 1)
    socket.once('close', () => Atomics.sub(connections, thread, 1))
    // Several threads may have found the last place free at the same moment.
    if (countFree() >= 0) return
    onConnectionDropped()
    socket.destroy()
  })
}

/** Milliseconds. */
interface StallTimes {
  /** For a client that reads nothing of its response. */
  response: number
  /** For one that sends no request after a response: Node takes an empty line as a request. */
  idle: number
}

/** Closes connections that have made no progress for these times. */
export function limitStalling (server: HttpServer, times: StallTimes): void {
  const open = connectionsOf(server)
  const idle = new WeakMap<ServedSocket, Idle>()
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const socket of open) {
      setTimeoutOf(socket, times.response)
      const { bytesWritten } = socket
      const known = idle.get(socket)
      if (socket._httpMessage || known?.bytesWritten !== bytesWritten) {
        idle.set(socket, { bytesWritten, since: now })
      } else if (now - known.since > times.idle) {
        socket.destroy()
      }
    }
  }, times.response / 4).unref()
  server.once('close', () => clearInterval(sweep))
}

/** Since when a connection has been seen without a pending response, and its bytes sent by then. */
interface Idle { bytesWritten: number, since: number }

/**
 * Sets the time limit of a connection that has unsent bytes; Node removes it after the response.
 * A stream may pause once its bytes are sent. With Node's server.setTimeout() each request would
 * update several timers.
 */
function setTimeoutOf (socket: ServedSocket, timeoutMs: number): void {
  if (socket.writableLength > 0) {
    if (socket.timeout !== timeoutMs) socket.setTimeout(timeoutMs)
  } else if (socket._httpMessage?.headersSent === true && socket.timeout === timeoutMs) {
    socket.setTimeout(0)
  }
}
