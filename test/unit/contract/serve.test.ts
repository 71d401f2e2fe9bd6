import fastify from 'fastify'
import t from 'tap'
import * as contract from '../../../generated/operations.ts'
import type { operations as Operations } from '../../../generated/types.ts'
import { answerErrors, type ContractService, serveContract } from '../../../src/contract/index.ts'
import { isError, logLines, testReporter } from '../../fixtures/app.ts'

type PlantService = ContractService<Operations, typeof contract>

/** The same handler for every operation of the contract. */
function handlersWith (handler: () => unknown): object {
  return Object.fromEntries(Object.keys(contract.operations).map(id => [id, handler]))
}

const fine = { status: 200, body: { name: 'x' } }

const service: PlantService = {
  contract,
  handlers: handlersWith(async () => fine) as PlantService['handlers'],
  verifiers: { bearerAuth: () => ({ name: 'anyone' }) },
  realm: 'test',
  responseTimeoutMs: 1000,
  toHttpError: () => undefined,
  logFault: () => {}
}

/** Serves the contract with parts that the compiler would refuse. */
function serveUntyped (app: ReturnType<typeof fastify>, parts: object): Promise<unknown> {
  return serveContract<Operations, typeof contract>(app, { ...service, ...parts })
}

t.test('a complete service starts', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  await t.resolves(serveContract<Operations, typeof contract>(app, service))
})

t.test('an undeclared response of a handler becomes 500, and the log names the fault', async t => {
  const { log, lines } = logLines()
  const app = fastify()
  t.teardown(() => app.close())
  answerErrors(app, testReporter(log))
  const cases: Array<[object, string]> = [
    [{ status: 201, body: { name: 'x' } }, 'answered 201'],
    [{ status: 200, body: { name: 1 } }, 'at name must be a string'],
    [{ status: 200, body: { tag: 'x' } }, 'must have the member "name"'],
    [{ status: 200, body: null }, 'must be an object']
  ]
  let undeclared: object
  await serveUntyped(app, { handlers: handlersWith(() => undeclared) })
  for (const [response, fault] of cases) {
    undeclared = response
    const headers = { authorization: 'Bearer x' }
    const body = { id: 1, name: 'x' }
    const sent = await app.inject({ method: 'POST', url: '/plants', headers, body })
    isError(t, sent, 500, 'The service failed. Its log records the cause.', fault)
    t.match(JSON.parse(lines.at(-1) as string).err.message, fault)
  }
})

t.test('a service with a missing or an extra handler or verifier does not start', async t => {
  const mismatched = { handlers: { deletePlant: () => {} }, verifiers: { apiKey: () => {} } }
  await t.rejects(serveUntyped(fastify(), mismatched), {
    message: new RegExp('^The operation createPlant has no handler\\. .*' +
      'The handler deletePlant has no operation in the contract\\.$')
  })
  const { verifiers } = mismatched
  await t.rejects(serveUntyped(fastify(), { verifiers }), {
    message: 'The security scheme bearerAuth has no verifier. ' +
      'The verifier apiKey has no security scheme in the contract.'
  })
})
