// An orderly end of connections: whoever is owed an answer gets it, whoever is silent holds nothing up.
import type { FastifyInstance } from 'fastify'
import type { Socket } from 'node:net'

/** Milliseconds between two looks at the connections that are left. */
const pace = 100

/**
 * Makes app.close() end within a bound. Node by itself closes what is idle when closing begins, and then stops to look:
 * connections that fall idle later, that never sent anything or stopped in the middle of a request would stay for good.
 * @param within milliseconds in which a request that is under way arrives and is answered; what is left then is cut off
 */
export function drainOnClose (app: FastifyInstance, within: number): void {
  const open = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', done => {
    const sweep = setInterval(() => {
      app.server.closeIdleConnections()
      open.values().filter(socket => socket.bytesRead === 0).forEach(socket => socket.destroy())
    }, pace)
    const cut = setTimeout(() => app.server.closeAllConnections(), within)
    app.server.once('close', () => {
      clearInterval(sweep)
      clearTimeout(cut)
    })
    done()
  })
}
