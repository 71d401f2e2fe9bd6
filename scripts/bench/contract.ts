// npm run bench:contract: whole processes on a large contract, taking turns. `npm run generate` beside
// openapi-typescript alone, and a service until it is ready beside one of fastify-openapi-glue.
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import glue from 'fastify-openapi-glue'
import fastify from 'fastify'
import { serveContract } from '../../src/contract/index.ts'
import type { Contract } from '../../src/contract/index.ts'
import { largeContract } from './large-contract.ts'
import { parseNumber, readOptions } from '../options.ts'
import { median, ratio } from './statistics.ts'

const { serve, folder, ...texts } = readOptions({
  operations: { type: 'string', default: '300' },
  rounds: { type: 'string', default: '9' },
  /** Run as one of the two services. */
  serve: { type: 'string' },
  folder: { type: 'string', default: '' }
})
const operations = parseNumber('operations', texts.operations, 4)
const rounds = parseNumber('rounds', texts.rounds)

if (serve === 'contract') await serveGenerated()
else if (serve === 'glue') await serveGlue()
else await compare()

async function compare (): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-bench-'))
  try {
    const contract = join(folder, 'openapi.json')
    await writeFile(contract, JSON.stringify(largeContract(operations)))
    const self = fileURLToPath(import.meta.url)
    const typescriptCli = join(createRequire(import.meta.url).resolve('openapi-typescript'), '../../bin/cli.js')
    const generate = [join(self, '../../generate.ts'), '--contract', contract, '--out']
    time('the first npm run generate', [...generate, folder])
    const commands: Record<string, string[]> = {
      'npm run generate': [...generate, join(folder, 'missing'), '--check'],
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

/** Run time of a Node process, or the startup time that it prints. */
function time (name: string, args: string[]): number {
  const began = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const took = performance.now() - began
  // --check does all its work and then exits 1, because the folder is missing.
  if (status !== 0 && !args.includes('--check')) throw new Error(`${name}: ${stderr}`)
  return Number(/^ready after (.*) ms$/m.exec(stdout)?.[1] ?? took)
}

function print (times: Map<string, number[]>): void {
  const typical = (name: string) => median(times.get(name) ?? [])
  const compared = (a: string, b: string) =>
    `${a}: ${Math.round(typical(a))} ms; ${b}: ${Math.round(typical(b))} ms; ratio ${ratio(typical(a), typical(b))}`
  console.log(`${operations} operations, medians of ${rounds} rounds, Node ${process.version}`)
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
    responseTimeoutMs: 1000,
    toHttpError: () => undefined,
    logFault: fault => { throw fault }
  })
  await app.ready()
  console.log(`ready after ${performance.now() - began} ms`)
}

async function serveGlue (): Promise<void> {
  const began = performance.now()
  const app = fastify({ ajv: { customOptions: { strict: false } } })
  const handlers = new Proxy({}, { has: () => true, get: () => async () => undefined })
  await app.register(glue as never, {
    specification: join(folder, 'openapi.json'),
    serviceHandlers: handlers,
    securityHandlers: { bearerAuth: async () => {} }
  })
  await app.ready()
  console.log(`ready after ${performance.now() - began} ms`)
}
