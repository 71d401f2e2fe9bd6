// npm run bench:contract: a contract of 200 operations. How long `npm run generate` takes on it beside openapi-typescript
// alone, and how long a service of it takes to be ready beside fastify-openapi-glue; whole processes, in turns.
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import glue from 'fastify-openapi-glue'
import fastify from 'fastify'
import type { Contract } from '../src/contract/index.ts'
import { serveContract } from '../src/contract/index.ts'
import { parseNumber, readOptions } from './options.ts'
import { median, ratio } from './statistics.ts'

const { serve, folder, ...texts } = readOptions({
  rounds: { type: 'string', default: '9' },
  /** Be one of the two services: used by this script for its own child. */
  serve: { type: 'string' },
  folder: { type: 'string', default: '' }
})
const rounds = parseNumber('rounds', texts.rounds)

if (serve === 'contract') await serveGenerated()
else if (serve === 'glue') await serveGlue()
else await compare()

async function compare (): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-bench-'))
  try {
    const contract = join(folder, 'openapi.json')
    await writeFile(contract, JSON.stringify(largeContract(200)))
    const self = fileURLToPath(import.meta.url)
    const typescriptCli = join(createRequire(import.meta.url).resolve('openapi-typescript'), '../../bin/cli.js')
    time('generated once', [join(self, '../generate.ts'), '--contract', contract, '--out', folder])
    const commands: Record<string, string[]> = {
      'npm run generate': [join(self, '../generate.ts'), '--contract', contract, '--out', join(folder, 'never'), '--check'],
      'openapi-typescript alone': [typescriptCli, contract, '-o', join(folder, 'alone.ts')],
      'service ready': [self, '--serve', 'contract', '--folder', folder],
      'fastify-openapi-glue ready': [self, '--serve', 'glue', '--folder', folder]
    }
    const times = new Map(Object.keys(commands).map(name => [name, [] as number[]]))
    for (let round = 0; round < rounds; round++) {
      for (const [name, args] of Object.entries(commands)) times.get(name)?.push(time(name, args))
    }
    print(times)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Milliseconds that a whole Node process takes, or those that it prints. */
function time (name: string, args: string[]): number {
  const began = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const took = performance.now() - began
  // --check finds nothing generated, and says so after all its work.
  if (status !== 0 && !args.includes('--check')) throw new Error(`${name}: ${stderr}`)
  return Number(/^ready after (.*) ms$/m.exec(stdout)?.[1] ?? took)
}

function print (times: Map<string, number[]>): void {
  const typical = (name: string) => median(times.get(name) ?? [])
  const compared = (a: string, b: string) =>
    `${a}: ${Math.round(typical(a))} ms; ${b}: ${Math.round(typical(b))} ms; ratio ${ratio(typical(a), typical(b))}`
  console.log(`200 operations, medians of ${rounds} rounds, Node ${process.version}`)
  console.log(compared('npm run generate', 'openapi-typescript alone'))
  console.log(compared('service ready', 'fastify-openapi-glue ready'))
}

async function serveGenerated (): Promise<void> {
  const began = performance.now()
  const contract: Contract = await import(join(folder, 'operations.ts'))
  const app = fastify()
  const handler = () => ({ status: 204 })
  await serveContract<Record<string, unknown>, Contract>(app, {
    contract,
    handlers: Object.fromEntries(Object.keys(contract.operations).map(id => [id, handler])) as never,
    verifiers: { bearerAuth: () => undefined } as never,
    realm: 'bench',
    answerWithinMs: 1000,
    toHttpError: () => undefined,
    onAuthenticated: []
  })
  await app.ready()
  console.log(`ready after ${performance.now() - began} ms`)
}

async function serveGlue (): Promise<void> {
  const began = performance.now()
  const app = fastify({ ajv: { customOptions: { strict: false } } })
  const handlers = new Proxy({}, { has: () => true, get: () => async () => undefined })
  await app.register(glue as never, { specification: join(folder, 'openapi.json'), serviceHandlers: handlers, securityHandlers: { bearerAuth: async () => {} } })
  await app.ready()
  console.log(`ready after ${performance.now() - began} ms`)
}

/** Four operations on each of many resources, each with schemas of its own. */
function largeContract (operations: number): object {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const json = (schema: object) => ({ 'application/json': { schema } })
  const answers = (schema: object) => ({
    200: { description: 'fine', content: json(schema) },
    ...Object.fromEntries([400, 401, 404, 500].map(status => [status, { description: 'wrong', content: json(ref('Error')) }]))
  })
  const schemas: Record<string, object> = {
    Error: { type: 'object', required: ['error', 'message'], properties: { error: { type: 'integer', format: 'int32' }, message: { type: 'string' } } },
    Owner: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
  }
  const paths: Record<string, object> = {}
  for (let index = 0; index < operations / 4; index++) {
    const name = `Thing${index}`
    schemas[name] = {
      type: 'object',
      required: ['id', 'name'],
      properties: {
        id: { type: 'integer', format: 'int64' },
        name: { type: 'string', minLength: 1, maxLength: 100 },
        created: { type: 'string', format: 'date-time' },
        tags: { type: 'array', items: { type: 'string' } },
        size: { type: 'object', properties: { width: { type: 'number' }, height: { type: 'number' } } },
        owner: ref('Owner')
      }
    }
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }
    const limit = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } }
    const body = { required: true, content: json(ref(name)) }
    const operation = (verb: string, more: object, schema: object) => ({ operationId: `${verb}${name}`, summary: verb, ...more, responses: answers(schema) })
    paths[`/things${index}`] = {
      get: operation('list', { parameters: [limit] }, { type: 'array', items: ref(name) }),
      post: operation('create', { requestBody: body }, ref(name))
    }
    paths[`/things${index}/{id}`] = {
      parameters: [id],
      get: operation('read', {}, ref(name)),
      put: operation('change', { requestBody: body }, ref(name))
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Large', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ bearerAuth: [] }],
    paths,
    components: { schemas, securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } }
  }
}
