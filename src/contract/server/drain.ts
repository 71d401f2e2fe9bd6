// Shutdown in order: the last responses say `Connection: close`, and idle connections end when
// their clients know it.
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { Server } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { connectionsOf, type ServedSocket } from './open-connections.ts'

/** In milliseconds. */
export interface DrainTimes {
  /** The service goes on accepting connections, until load balancers have noticed. By default 0. */
  delayMs: () => number
  /** Then a connection stays open while it is idle: its client may be sending a request. */
  lingerMs: number
  /** For a request that is under way to arrive; then its connection is closed. By default 5,000. */
  requestTimeoutMs: number
  /** After that for its response; then every connection is closed. By default 5,000. */
  responseTimeoutMs: number
}

const defaults: DrainTimes = {
  delayMs: () => 0, lingerMs: 0, requestTimeoutMs: 5000, responseTimeoutMs: 5000
}

const sweepIntervalMs = 100
/** A stream that waits for its next event has sent nothing for this time. */
const quietMs = 1000

/**
 * Lets close() of a server drain its connections. Node would close idle connections at once, and
 * lose requests that arrive on them; and it would wait for a stream that never ends. The framework
 * adds `Connection: close` to the response of each request that arrives meanwhile.
 */
export function drainAtClose (server: HttpServer, given: Partial<DrainTimes> = {}): void {
  const times = { ...defaults, ...given }
  const open = connectionsOf(server)
  const close = server.close.bind(server)
  let drained: Promise<void> | undefined
  server.close = callback => {
    if (server.listening) drained ??= drain(server, open, times)
    if (drained === undefined) return close(callback)
    // Also ends the timers of Node's server.
    drained.then(() => close(() => callback?.()))
    return server
  }
}

/**
 * Milliseconds of the thread's CPU time, which passes slowly on a busy machine: a client may open
 * connections again and again.
 */
const maxAcceptMs = 1000

type Listener = HttpServer & { _handle?: { listen: (backlog: number) => number } | null }

/** Accepts the connections that wait in the system. Closing the port would reset them. */
async function acceptWaiting (server: Listener): Promise<void> {
  // Undocumented, but the only way: on Linux no further connections wait. A client tries again a
  // second later, and then reaches another thread or service, or none.
  server._handle?.listen(0)
  const end = cpuMs() + maxAcceptMs
  let last = 0
  let turn = 1
  const note = () => { last = turn }
  server.on('connection', note)
  // Node accepts one connection in a turn; the first turn may have begun already.
  for (; turn - last <= 2 && cpuMs() < end; turn++) await nextTurn()
  server.off('connection', note)
}

function cpuMs (): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function drain (
  server: HttpServer,
  open: ReadonlySet<ServedSocket>,
  { delayMs, lingerMs, requestTimeoutMs, responseTimeoutMs }: DrainTimes
): Promise<void> {
  const delay = delayMs()
  if (delay > 0) await sleep(delay)
  await acceptWaiting(server)
  const closed = once(server, 'close')
  // The close() of node:http would also close the idle connections.
  Server.prototype.close.call(server)
  let idleSince = performance.now()
  const closeQuiet = quietCloser(open)
  const closeIdle = () => {
    if (open.values().some(socket => socket._httpMessage)) idleSince = performance.now()
    else if (performance.now() - idleSince >= lingerMs) server.closeIdleConnections()
    closeQuiet()
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

/** Returns a function that closes connections whose response has begun, and sends nothing. */
function quietCloser (open: ReadonlySet<ServedSocket>): () => void {
  const seen = new WeakMap<ServedSocket, { bytes: number, since: number }>()
  return () => {
    const now = performance.now()
    for (const socket of open) {
      const { bytesWritten: bytes, writableLength, _httpMessage: response } = socket
      const last = seen.get(socket)
      if (last?.bytes !== bytes) seen.set(socket, { bytes, since: now })
      else if (response?.headersSent !== true || writableLength > 0) continue
      else if (now - last.since >= quietMs) socket.destroy()
    }
  }
}
