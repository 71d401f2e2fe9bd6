// Closes connections in order at shutdown: pending requests get their response, idle connections end at once.
import type { FastifyInstance } from 'fastify'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * A connection of a server. Only these undocumented fields show which response is pending on it, and whether that
 * response ends the connection.
 */
export type ServedSocket = Socket & { _httpMessage?: ServerResponse & { _last: boolean } | null }

const sweepIntervalMs = 100

/**
 * Bounds app.close(). Node closes only connections that are idle when shutdown begins;
 * one that becomes idle or stalls later would stay open.
 * @param requestTimeoutMs time for a request that is under way to arrive; then its connection is closed
 * @param responseTimeoutMs time after that for its response; then every connection is closed
 */
export function drainOnClose (app: FastifyInstance, requestTimeoutMs: number, responseTimeoutMs: number): void {
  const open = new Set<ServedSocket>()
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', done => {
    const sweep = setInterval(() => app.server.closeIdleConnections(), sweepIntervalMs)
    const closeStalled = setTimeout(() => {
      open.values().filter(socket => socket._httpMessage?.req.complete !== true).forEach(socket => socket.destroy())
    }, requestTimeoutMs)
    const closeAll = setTimeout(() => app.server.closeAllConnections(), requestTimeoutMs + responseTimeoutMs)
    app.server.once('close', () => {
      clearInterval(sweep)
      clearTimeout(closeStalled)
      clearTimeout(closeAll)
    })
    done()
  })
}
