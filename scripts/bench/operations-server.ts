// A server of the operations bench: the engine, Fastify with the same schemas by hand or without,
// or a peer. The arguments are its kind, the contract, and for the engine the folder that is
// generated from it and the engine's checkout.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import express from 'express'
import { middleware } from 'express-openapi-validator'
import fastify, { type FastifyReply, type FastifyRequest, type FastifySchema } from 'fastify'
import glue from 'fastify-openapi-glue'
import { type Context, OpenAPIBackend, type Request } from 'openapi-backend'
import type { Contract } from '../../src/contract/index.ts'

const [kind = '', file = '', generated = '', checkout = ''] = process.argv.slice(2)

const item = (id: number) => ({
  id,
  name: `Boston fern ${id}`,
  kind: 'fern',
  height: 12.5,
  isIndoor: true,
  tags: ['green', 'shade'],
  note: null
})
const one = item(1)
const list = Array.from({ length: 20 }, (_, id) => item(id))

const app = fastify()
const servers: Record<string, () => unknown> = {
  engine: serveEngine,
  fastify: () => serveFastify(true),
  plain: () => serveFastify(false),
  glue: serveGlue,
  backend: serveBackend,
  express: serveExpress
}
await servers[kind]?.()
if (kind !== 'express') console.log(`listening at ${await app.listen()}`)

async function serveEngine (): Promise<void> {
  const operations: Contract = await import(join(generated, 'operations.ts'))
  const { serveContract }: typeof import('../../src/contract/index.ts') =
    await import(join(checkout, 'src/contract/index.ts'))
  const handlers = {
    readItem: async () => ({ status: 200, body: one }),
    listItems: async () => ({ status: 200, body: list }),
    putItem: async ({ body }: { body: object }) => ({ status: 200, body })
  }
  await app.register(serveContract<Record<string, unknown>, Contract>({
    contract: { ...operations, document: { info: { title: 'bench' } } },
    handlers: handlers as never,
    verifiers: {},
    docs: false
  }))
}

function serveFastify (hasSchemas: boolean): void {
  const { components: { schemas: { Item } } } = JSON.parse(readFileSync(file, 'utf8'))
  const params = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  const schemaOf = (schema: FastifySchema) => hasSchemas ? { schema } : {}
  app.get('/items/:id', schemaOf({ params, response: { 200: Item } }), async () => one)
  const items = { type: 'array', items: Item }
  app.get('/items', schemaOf({ response: { 200: items } }), async () => list)
  const put = schemaOf({ params, body: Item, response: { 200: Item } })
  app.put('/items/:id', put, async ({ body }) => body)
}

async function serveGlue (): Promise<void> {
  await app.register(glue as never, {
    specification: file,
    serviceHandlers: {
      readItem: async () => one,
      listItems: async () => list,
      putItem: async ({ body }: { body: object }) => body
    }
  })
}

/** openapi-backend, with answers checked as its README shows. */
async function serveBackend (): Promise<void> {
  const api = new OpenAPIBackend({
    definition: file,
    // Its check of the description refuses lists of types, which OpenAPI 3.1 has.
    quick: true,
    handlers: {
      readItem: async () => one,
      listItems: async () => list,
      putItem: async ({ request }: Context) => request.requestBody,
      validationFail: ({ validation }: Context, _request, reply: FastifyReply) => {
        return reply.code(400).send({ errors: validation.errors })
      },
      postResponseHandler: ({ api, operation, response }: Context, _request, reply) => {
        const { errors } = api.validateResponse(response, operation)
        return errors ? reply.code(500).send({ errors }) : response
      }
    }
  })
  await api.init()
  app.route({
    method: ['GET', 'PUT'],
    url: '/*',
    handler: (request: FastifyRequest, reply) => {
      const { method, url: path, body, query, headers } = request
      const parts = { method, path, body, query, headers } as Request
      return api.handleRequest(parts, request, reply)
    }
  })
}

/** express-openapi-validator, with answers checked. */
async function serveExpress (): Promise<void> {
  const app = express()
  app.use(express.json())
  app.use(middleware({ apiSpec: file, validateResponses: true }))
  app.get('/items/:id', (_request, response) => { response.json(one) })
  app.get('/items', (_request, response) => { response.json(list) })
  app.put('/items/:id', ({ body }, response) => { response.json(body) })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}
