import t from 'tap'
import type { Contract, Operation } from '../../../src/contract/types/contract.ts'
import { isError } from '../../fixtures/app.ts'
import { serveLoaded } from '../../fixtures/contract.ts'

/** A schema that the generator would refuse, so that compiling it shows. */
const broken = { type: 'integer', minimum: 'one' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })

const plain = Array.from({ length: 50 }, (_, index): [string, Operation] => {
  return [`op${index}`, operation(`/op${index}`, {})]
})

/** Operations that take and return a Plant, and one of each broken place, past the generator. */
const contract: Contract = {
  server: { url: '/', variables: {} },
  operations: {
    ...Object.fromEntries(plain),
    brokenBody: operation('/body', { body: { required: true, ...json({ $ref: 'Broken#' }) } }),
    brokenParameter: operation('/parameter', {
      parameters: [{ name: 'p', in: 'query', required: false, style: 'form', explode: true, schema: broken, default: 1 }]
    }),
    brokenAnswer: operation('/answer', { responses: { 200: json({ $ref: 'Broken#' }) } }),
    brokenHeader: operation('/header', {
      responses: { 200: { ...json({}), headers: { 'X-Left': { required: true, schema: broken } } } }
    })
  },
  schemas: {
    Broken: broken,
    Plant: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, parent: { $ref: 'Plant#' } }
    }
  },
  securitySchemes: {},
  skipped: []
}

function operation (url: string, parts: Partial<Operation>): Operation {
  const plant = json({ $ref: 'Plant#' })
  const body = { required: true, ...plant }
  const responses = { 200: plant }
  return { method: 'POST', url, security: [], parameters: [], body, responses, ...parts }
}

const handlers = Object.fromEntries(Object.keys(contract.operations).map(id => {
  const headers = id === 'brokenHeader' ? { 'X-Left': 1 } : {}
  return [id, ({ body }: { body?: unknown }) => ({ status: 200, headers, body })]
}))

t.test('a schema is compiled for its first value; the other operations work', async t => {
  const { app, causes } = await serveLoaded(t, contract, { handlers })
  await app.ready()
  const send = (url: string, payload: object = { name: 'ivy', parent: { name: 'oak' }, other: 1 }) => {
    return app.inject({ method: 'POST', url, payload })
  }
  for (const url of ['/op0', '/op46', '/op0']) {
    const { statusCode, body } = await send(url)
    t.strictSame([statusCode, body], [200, '{"name":"ivy","parent":{"name":"oak"}}'], url)
    const nested = await send(url, { name: 'ivy', parent: {} })
    isError(t, nested, 400, '"parent" in the body must have the member "name".', url)
  }
  for (const url of ['/body', '/parameter', '/answer', '/header']) {
    isError(t, await send(url), 500, /log/, url)
  }
  t.strictSame(causes().filter(cause => !/minimum/.test(cause)), [], 'the log names the schema')
})
