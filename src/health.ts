// For supervisors and load balancers: /livez says that the process answers, /readyz that the store accepts plants.
import type { FastifyInstance } from 'fastify'
import { HttpError } from './contract/index.ts'
import type { PlantStore } from './plants/plant-store.ts'

export const healthPaths = { live: '/livez', ready: '/readyz' }

/** Ready while the store can promise writes and the service is not closing; otherwise 503. Neither needs a token. */
export function serveHealth (app: FastifyInstance, store: PlantStore): void {
  let closing = false
  app.addHook('preClose', done => {
    closing = true
    done()
  })
  app.get(healthPaths.live, async () => ({ status: 'alive' }))
  app.get(healthPaths.ready, async () => {
    if (closing) throw new HttpError(503, 'The service is shutting down.')
    await store.check().catch(cause => {
      throw new HttpError(503, 'The store cannot promise to keep plants at the moment.', { cause })
    })
    return { status: 'ready' }
  })
}
