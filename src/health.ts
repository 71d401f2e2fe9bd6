// For supervisors and load balancers: /livez says that the process answers, /readyz that the store accepts plants.
import type { FastifyInstance } from 'fastify'
import { HttpError } from './contract/index.ts'
import type { PlantStore } from './plants/plant-store.ts'

export const healthPaths = { live: '/livez', ready: '/readyz' }

/** /readyz is 200 while the store can write and the service is not shutting down, else 503. Neither needs a token. */
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
      throw new HttpError(503, 'The store cannot write plants durably at the moment.', { cause })
    })
    return { status: 'ready' }
  })
}
