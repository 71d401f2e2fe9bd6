import fastify from 'fastify'
import t from 'tap'
import * as contract from '../../../generated/operations.ts'
import type { operations as Operations } from '../../../generated/types.ts'
import { answerErrors, serveContract } from '../../../src/contract/index.ts'
import type { Service } from '../../../src/contract/index.ts'
import { isError, logLines, testReporter } from '../../fixtures/app.ts'

type PlantService = Service<Operations, typeof contract>

const service: PlantService = {
  contract,
  // Whatever else the contract may get, this test is about one operation.
  handlers: { createPlant: async () => ({ status: 200, body: { name: 'x' } }) } as unknown as PlantService['handlers'],
  verifiers: { bearerAuth: () => ({ name: 'anyone' }) },
  realm: 'test',
  answerWithinMs: 1000,
  toHttpError: () => undefined,
  onAuthenticated: []
}

t.test('a service that is complete starts', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  await t.resolves(serveContract<Operations, typeof contract>(app, service))
})

t.test('an answer that the contract does not declare is 500, and the log says which', async t => {
  const { log, lines } = logLines()
  const app = fastify()
  t.teardown(() => app.close())
  answerErrors(app, testReporter(log))
  const answers = [{ status: 201, body: { name: 'x' } }, { status: 200, body: { name: 1 } }, { status: 200, body: { tag: 'x' } }, { status: 200, body: null }]
  const handler = (() => answers.shift()) as unknown as PlantService['handlers']['createPlant']
  await serveContract<Operations, typeof contract>(app, { ...service, handlers: { createPlant: handler } as unknown as PlantService['handlers'] })
  for (const detail of ['answered 201', 'at name must be a string', 'must have the member "name"', 'must be an object']) {
    const response = await app.inject({ method: 'POST', url: '/plants', headers: { authorization: 'Bearer x' }, body: { id: 1, name: 'x' } })
    isError(t, response, 500, 'The service failed; its log says why.', detail)
    t.match(JSON.parse(lines.at(-1) as string).err.message, detail)
  }
})

t.test('a service with a handler or verifier too few or too many does not start', async t => {
  const broken = { ...service, handlers: { deletePlant: () => {} }, verifiers: { apiKey: () => {} } } as unknown as PlantService
  const started = serveContract<Operations, typeof contract>(fastify(), broken)
  await t.rejects(started, { message: 'The operation createPlant has no handler. The handler deletePlant has no operation in the contract.' })
  const unverified = { ...service, verifiers: { apiKey: () => {} } } as unknown as PlantService
  await t.rejects(serveContract<Operations, typeof contract>(fastify(), unverified), { message: 'The security scheme bearerAuth has no verifier. The verifier apiKey has no security scheme in the contract.' })
})
