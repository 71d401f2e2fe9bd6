// A server of the operations bench: the engine, Fastify with the same schemas by hand or without,
// or fastify-openapi-glue. The arguments are its kind, the contract, and for the engine the folder
// that is generated from it and the engine's checkout.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastify, { type FastifySchema } from 'fastify'
import glue from 'fastify-openapi-glue'
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
  glue: serveGlue
}
await servers[kind]?.()
console.log(`listening at ${await app.listen()}`)

async function serveEngine (): Promise<void> {
  const operations: Contract = await import(join(generated, 'operations.ts'))
  const { serveContract }: typeof import('../../src/contract/index.ts') =
    await import(join(checkout, 'src/contract/index.ts'))
  const handlers = {
    readItem: () => ({ status: 200, body: one }),
    listItems: () => ({ status: 200, body: list }),
    putItem: ({ body }: { body: object }) => ({ status: 200, body })
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
