// For supervisors and load balancers: /livez says that the process answers, /readyz that plants can be kept.
import type { FastifyInstance } from 'fastify'
import { ServiceError } from './errors.ts'
import type { PlantStore } from './plants/plant-store.ts'

/** Ready only while the store can promise writes, and not while the service closes: 503 otherwise. Neither asks for a token. */
export function serveHealth (app: FastifyInstance, store: PlantStore): void {
  let closing = false
  app.addHook('preClose', done => {
    closing = true
    done()
  })
  app.get('/livez', async () => ({ status: 'alive' }))
  app.get('/readyz', async () => {
    if (closing) throw new ServiceError('unavailable', 'The service is shutting down.')
    await store.check().catch(cause => {
      throw new ServiceError('unavailable', 'The store cannot promise to keep plants at the moment.', { cause })
    })
    return { status: 'ready' }
  })
}
