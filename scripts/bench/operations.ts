// npm run bench -- operations: the engine on a read, a list of 20 objects and a put, beside Fastify
// with the same schemas by hand, Fastify without schemas and other packages that serve a contract.
// One core has the servers, the other one the load.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCheckout } from './checkout.ts'
import {
  folder, pinToCores, type Program, project, readSettings, repeat, startInstances
} from './harness.ts'
import { load } from './load.ts'
import { type LoadSample, printSummaries } from './summary.ts'

const { rounds, milliseconds, connections, instances, against } = readSettings({
  rounds: 10,
  /** Of load per round, server and operation. */
  milliseconds: 300,
  connections: 64,
  /** Of each server: their differences are the noise. */
  instances: 3,
  /** A revision or the folder of another checkout, whose engine is measured, too. */
  against: ''
})

const Item = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string', maxLength: 100 },
    kind: { enum: ['fern', 'ivy', 'moss'] },
    height: { type: 'number', minimum: 0 },
    isIndoor: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    note: { type: ['string', 'null'] }
  }
}
const answers = (schema: object) => {
  return { 200: { description: 'ok', content: { 'application/json': { schema } } } }
}
const ofItem = { $ref: '#/components/schemas/Item' }
const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
const requestBody = { required: true, content: { 'application/json': { schema: ofItem } } }
const contract = {
  openapi: '3.1.0',
  info: { title: 'Items', version: '1.0.0' },
  paths: {
    '/items': {
      get: { operationId: 'listItems', responses: answers({ type: 'array', items: ofItem }) }
    },
    '/items/{id}': {
      parameters: [id],
      get: { operationId: 'readItem', responses: answers(ofItem) },
      put: { operationId: 'putItem', requestBody, responses: answers(ofItem) }
    }
  },
  components: { schemas: { Item } }
}
const file = join(folder, 'openapi.json')
writeFileSync(file, JSON.stringify(contract))

const prefix = pinToCores()
const kinds = ['fastify', 'plain', 'glue', 'backend', 'express', 'engine']
const programs = kinds.map(kind => program(kind))
if (against !== '') programs.push(program('engine', findCheckout(against), `engine of ${against}`))
const servers = await startInstances(programs, instances, prefix)

const body = JSON.stringify({
  id: 1,
  name: 'Boston fern',
  kind: 'fern',
  height: 12.5,
  isIndoor: true,
  tags: ['green'],
  note: null
})
const requests = {
  read: 'GET /items/1 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  list: 'GET /items HTTP/1.1\r\nHost: localhost\r\n\r\n',
  put: 'PUT /items/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${body.length}\r\n\r\n${body}`
}
const samples: LoadSample[] = []
const measure = async (round: number) => {
  for (const [name, text] of Object.entries(requests)) {
    for (const server of round % 2 === 0 ? servers.toReversed() : servers) {
      const figures = await load(server, connections, milliseconds / 1000, () => text)
      samples.push({ server, load: name, round, ...figures })
    }
  }
}
// V8 has compiled the hot code after these rounds.
for (let warmUp = 0; warmUp < 4; warmUp++) await measure(0)
samples.length = 0
await repeat(rounds, measure)
for (const [name, group] of Map.groupBy(samples, ({ load }) => load)) {
  console.log(`${name}, ${connections} connections, Node ${process.version}`)
  printSummaries(group, against)
}
process.exit()

/** The checkout of an engine also generates its files. */
function program (kind: string, checkout = project, name = kind): Program {
  const out = mkdtempSync(join(folder, 'generated-'))
  const server = join(import.meta.dirname, 'operations-server.ts')
  const env = { NODE_ENV: 'production' }
  if (kind === 'engine') {
    const args = ['scripts/generate.ts', '--allow-open', '--contract', file, '--out', out]
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: checkout })
    if (status !== 0) throw new Error(String(stderr))
  }
  return { name, command: [process.execPath, server, kind, file, out, checkout], env }
}
