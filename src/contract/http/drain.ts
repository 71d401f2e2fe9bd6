// An orderly end of connections: whoever is owed an answer gets it, whoever is silent holds nothing up.
import type { FastifyInstance } from 'fastify'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection of a server. Node tells only here which answer it owes on it; there is no public way to ask. */
export type ServedSocket = Socket & { _httpMessage?: ServerResponse | null }

/** Milliseconds between two looks at the connections that are left. */
const pace = 100

/**
 * Makes app.close() end within a bound. Node by itself closes what is idle when closing begins, and then stops to look:
 * connections that fall idle later, or stopped in the middle of a request, would stay for good.
 * @param arriveWithin milliseconds in which a request that is under way has to arrive; one that has not is cut off
 * @param answerWithin milliseconds more in which it has to be answered; what is left then is cut off
 */
export function drainOnClose (app: FastifyInstance, arriveWithin: number, answerWithin: number): void {
  const open = new Set<ServedSocket>()
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', done => {
    const sweep = setInterval(() => app.server.closeIdleConnections(), pace)
    const cutStalled = setTimeout(() => {
      open.values().filter(socket => socket._httpMessage?.req.complete !== true).forEach(socket => socket.destroy())
    }, arriveWithin)
    const cutAll = setTimeout(() => app.server.closeAllConnections(), arriveWithin + answerWithin)
    app.server.once('close', () => {
      clearInterval(sweep)
      clearTimeout(cutStalled)
      clearTimeout(cutAll)
    })
    done()
  })
}
