// Shutdown in order: the last responses say `Connection: close`, and idle connections end when their clients know it.
import type { FastifyInstance } from 'fastify'
import { once } from 'node:events'
import type { Server as HttpServer, ServerResponse } from 'node:http'
import { Server } from 'node:net'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/**
 * A connection of a server. Only these undocumented fields show which response is pending on it, and whether that
 * response ends the connection.
 */
export type ServedSocket = Socket & { _httpMessage?: ServerResponse & { _last: boolean } | null }

export interface DrainTimes {
  /** The service goes on accepting connections, until load balancers have noticed. */
  delayMs: () => number
  /** Then a connection stays open while it is idle: its client may be sending a request. */
  lingerMs: number
  /** Time for a request that is under way to arrive; then its connection is closed. */
  requestTimeoutMs: number
  /** Time after that for its response; then every connection is closed. */
  responseTimeoutMs: number
}

const sweepIntervalMs = 100

/** The open connections of a server. */
export function connectionsOf (server: HttpServer): ReadonlySet<ServedSocket> {
  const open = new Set<ServedSocket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

/**
 * Drains connections before app.close() lets Node close the idle ones: Node would lose requests that arrive on them.
 * Once app.close() is called, Fastify adds `Connection: close` to every response.
 */
export function drainOnClose (app: FastifyInstance, { delayMs, ...times }: DrainTimes): void {
  const open = connectionsOf(app.server)
  app.addHook('preClose', async () => {
    if (!app.server.listening) return
    await sleep(delayMs())
    await acceptWaiting(app.server)
    await drain(app.server, open, times)
  })
}

/** Milliseconds: a client may open connections again and again. */
const longestAcceptMs = 1000

/** Accepts the connections that wait in the system. Closing the port would reset them, with the requests on them. */
async function acceptWaiting (server: HttpServer): Promise<void> {
  const end = performance.now() + longestAcceptMs
  let last = 0
  let turn = 1
  const note = () => { last = turn }
  server.on('connection', note)
  // Node accepts one connection in a turn; the first turn may have begun already.
  for (; turn - last <= 2 && performance.now() < end; turn++) await nextTurn()
  server.off('connection', note)
}

async function drain (
  server: HttpServer,
  open: ReadonlySet<ServedSocket>,
  { lingerMs, requestTimeoutMs, responseTimeoutMs }: Omit<DrainTimes, 'delayMs'>
): Promise<void> {
  const closed = once(server, 'close')
  // The close() of node:http would also close the idle connections.
  Server.prototype.close.call(server)
  let idleSince = performance.now()
  const closeIdle = () => {
    if (open.values().some(socket => socket._httpMessage)) idleSince = performance.now()
    else if (performance.now() - idleSince >= lingerMs) server.closeIdleConnections()
  }
  closeIdle()
  const sweep = setInterval(closeIdle, sweepIntervalMs)
  const closeStalled = setTimeout(() => {
    open.values().filter(socket => socket._httpMessage?.req.complete !== true).forEach(socket => socket.destroy())
  }, requestTimeoutMs)
  // closeAllConnections() leaves out connections that a CONNECT took from Node.
  const closeAll = setTimeout(() => open.forEach(socket => socket.destroy()), requestTimeoutMs + responseTimeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(closeStalled)
  clearTimeout(closeAll)
}
