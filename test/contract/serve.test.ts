import fastify from 'fastify'
import t from 'tap'
import { operations, schemas, securitySchemes } from '../../generated/operations.ts'
import type { operations as Operations } from '../../generated/types.ts'
import { serveContract } from '../../src/contract/serve.ts'
import type { Service } from '../../src/contract/serve.ts'

type PlantService = Service<Operations, typeof securitySchemes>

const service: PlantService = {
  contract: { operations, schemas, securitySchemes },
  handlers: { createPlant: async ({ body: { name } }) => ({ status: 200, body: { name } }) },
  verifiers: { bearerAuth: () => ({ name: 'anyone' }) },
  realm: 'test',
  answerWithin: 1000,
  onAuthenticated: []
}

t.test('a service that is complete starts', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  await t.resolves(serveContract(app, service))
})

t.test('a service with a handler or verifier too few or too many does not start', async t => {
  const broken = { ...service, handlers: { deletePlant: () => {} }, verifiers: { apiKey: () => {} } } as unknown as PlantService
  const started = serveContract(fastify(), broken)
  await t.rejects(started, { message: 'The operation createPlant has no handler. The handler deletePlant has no operation in the contract.' })
  const unverified = { ...service, verifiers: { apiKey: () => {} } } as unknown as PlantService
  await t.rejects(serveContract(fastify(), unverified), { message: 'The security scheme bearerAuth has no verifier. The verifier apiKey has no security scheme in the contract.' })
})
