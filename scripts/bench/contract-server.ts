// Serves the large contract, and prints the milliseconds until it is ready. The arguments are the
// kind of the server and the folder of the contract.
import { join } from 'node:path'
import glue from 'fastify-openapi-glue'
import fastify from 'fastify'
import { type Contract, serveContract } from '../../src/contract/index.ts'

const [kind, folder = ''] = process.argv.slice(2)
const began = performance.now()
const app = fastify({ ajv: { customOptions: { strict: false } } })
if (kind === 'glue') await registerGlue()
else await registerService()
await app.ready()
console.log(`ready after ${performance.now() - began} ms`)

async function registerService (): Promise<void> {
  const operations: Contract = await import(join(folder, 'operations.ts'))
  const handlers: Record<string, unknown> = {}
  for (const id of Object.keys(operations.operations)) handlers[id] = () => ({ status: 204 })
  await app.register(serveContract<Record<string, unknown>, Contract>({
    contract: { ...operations, document: { info: { title: 'bench' } } },
    handlers: handlers as never,
    verifiers: { bearerAuth: () => undefined } as never,
    docs: false
  }))
}

async function registerGlue (): Promise<void> {
  await app.register(glue as never, {
    specification: join(folder, 'openapi.json'),
    serviceHandlers: new Proxy({}, { has: () => true, get: () => async () => undefined }),
    securityHandlers: { bearerAuth: async () => {} }
  })
}
