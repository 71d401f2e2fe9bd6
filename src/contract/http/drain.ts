// Closes connections in order at shutdown: pending requests get their response, idle connections end at once.
import type { FastifyInstance } from 'fastify'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection of a server. Only this undocumented field shows which response is pending on it. */
export type ServedSocket = Socket & { _httpMessage?: ServerResponse | null }

const sweepIntervalMs = 100

/**
 * Makes app.close() end within a bound. Node closes the connections that are idle when closing begins, and then stops
 * looking: a connection that becomes idle later, or stalls in the middle of a request, would stay open for ever.
 * @param arriveWithinMs time for a request that is under way to arrive; then its connection is closed
 * @param answerWithinMs time after that for its response; then every connection is closed
 */
export function drainOnClose (app: FastifyInstance, arriveWithinMs: number, answerWithinMs: number): void {
  const open = new Set<ServedSocket>()
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', done => {
    const sweep = setInterval(() => app.server.closeIdleConnections(), sweepIntervalMs)
    const closeStalled = setTimeout(() => {
      open.values().filter(socket => socket._httpMessage?.req.complete !== true).forEach(socket => socket.destroy())
    }, arriveWithinMs)
    const closeAll = setTimeout(() => app.server.closeAllConnections(), arriveWithinMs + answerWithinMs)
    app.server.once('close', () => {
      clearInterval(sweep)
      clearTimeout(closeStalled)
      clearTimeout(closeAll)
    })
    done()
  })
}
