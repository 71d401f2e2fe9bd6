// The public Petstore. JSON and forms are served. XML is left out: a request in XML gets 415, and
// answers are JSON, also for a client that prefers XML; only loginUser answers both.
import fastify, { type FastifyInstance } from 'fastify'
import { serveContract, serverOptions } from 'fastify-openapi-contract'
import { contract, type Verifiers } from './generated/index.ts'
import { orderHandlers } from './orders.ts'
import { petHandlers } from './pets.ts'
import { createStore } from './store.ts'
import { userHandlers } from './users.ts'

export async function buildPetstore (verifiers: Verifiers): Promise<FastifyInstance> {
  const store = createStore()
  const app = fastify(serverOptions())
  await app.register(serveContract({
    contract,
    handlers: { ...petHandlers(store), ...orderHandlers(store), ...userHandlers(store) },
    verifiers
  }))
  return app
}
