// npm run bench -- contract: whole processes on a contract with many copies of the operation. The
// generator beside openapi-typescript alone, and a service until it is ready beside one of
// fastify-openapi-glue.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { document } from '../../generated/document.ts'
import { folder, printMedians, project, readSettings, repeat, type Sample } from './harness.ts'

const { operations, rounds } = readSettings({ operations: 300, rounds: 9 })
const contract = join(folder, 'openapi.json')
writeFileSync(contract, JSON.stringify(copyOperation(operations)))
const generate = [join(project, 'scripts/generate.ts'), '--contract', contract, '--out']
// The service that is measured serves these files.
time([...generate, folder])

const typescriptIndex = createRequire(import.meta.url).resolve('openapi-typescript')
const typescript = [join(typescriptIndex, '../../bin/cli.js'), contract, '-o']
const server = join(import.meta.dirname, 'contract-server.ts')
const generating: Sample[] = []
const starting: Sample[] = []
await repeat(rounds, async round => {
  const add = (samples: Sample[], name: string, args: string[]) => {
    samples.push({ name, figures: { ms: time(args) } })
  }
  add(generating, 'openapi-typescript alone', [...typescript, join(folder, 'alone.ts')])
  add(generating, 'generate', [...generate, join(folder, `round-${round}`)])
  add(starting, 'fastify-openapi-glue ready', [server, 'glue', folder])
  add(starting, 'service ready', [server, 'service', folder])
})
printMedians(`${operations} operations, ${rounds} rounds`, generating, ['ms'])
printMedians('Startup', starting, ['ms'])

type Components = { schemas: Record<string, unknown> }

/** The contract of the service with this many copies of its operation and of its schemas. */
function copyOperation (copies: number): object {
  const { paths, ...rest } = document
  const components = rest.components as Components
  const { Error, ...schemas } = components.schemas
  const template = JSON.stringify({ paths, schemas })
  const all = { paths: {}, schemas: { Error } }
  for (let copy = 1; copy <= copies; copy++) {
    const text = template.replaceAll(/\/plants|createPlant|NewPlant|Plant(?=")/g, `$&${copy}`)
    const renamed = JSON.parse(text)
    Object.assign(all.paths, renamed.paths)
    Object.assign(all.schemas, renamed.schemas)
  }
  const servers = [{ url: '/' }]
  return { ...rest, servers, paths: all.paths, components: { ...components, schemas: all.schemas } }
}

/** Milliseconds that a Node process runs, or that it prints. */
function time (args: string[]): number {
  const began = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const took = performance.now() - began
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  return Number(/^ready after (.*) ms$/m.exec(stdout)?.[1] ?? took)
}
