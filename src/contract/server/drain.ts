// Shutdown in order: the last responses say `Connection: close`, and idle connections end when
// their clients know it.
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { Server } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { connectionsOf, type ServedSocket } from './open-connections.ts'

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

/**
 * Returns a function that closes a server when its connections are drained. The framework calls it
 * before it closes the server: Node would close idle connections, and lose requests that arrive on
 * them. Meanwhile the framework adds `Connection: close` to every response.
 */
export function prepareDrain (server: HttpServer, times: DrainTimes): () => Promise<void> {
  const open = connectionsOf(server)
  return async () => {
    if (!server.listening) return
    await sleep(times.delayMs())
    await acceptWaiting(server)
    await drain(server, open, times)
  }
}

/** Milliseconds: a client may open connections again and again. */
const maxAcceptMs = 1000

type Listener = HttpServer & { _handle?: { listen: (backlog: number) => number } | null }

/** Accepts the connections that wait in the system. Closing the port would reset them. */
async function acceptWaiting (server: Listener): Promise<void> {
  // Undocumented, but the only way: on Linux no further connections wait. A client tries again a
  // second later, and then reaches another thread or service, or none.
  server._handle?.listen(0)
  const end = performance.now() + maxAcceptMs
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
  { lingerMs, requestTimeoutMs, responseTimeoutMs }: DrainTimes
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
    for (const socket of open) if (socket._httpMessage?.req.complete !== true) socket.destroy()
  }, requestTimeoutMs)
  // closeAllConnections() leaves out connections that a CONNECT took from Node.
  const closeAll = setTimeout(() => {
    for (const socket of open) socket.destroy()
  }, requestTimeoutMs + responseTimeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(closeStalled)
  clearTimeout(closeAll)
}
