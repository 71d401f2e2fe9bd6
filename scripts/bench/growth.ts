// npm run bench:growth: throughput as connections, bodies and the database grow, the service beside bare Fastify.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownCheckout, startCommand } from './checkout.ts'
import { drawGrowth } from './growth-picture.ts'
import type { Line, Panel } from './growth-picture.ts'
import { fillSqlite } from './fill.ts'
import { load, nextRequest, postRequest, token } from './load.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'
import { parseNumber, readOptions } from '../options.ts'
import { median } from './statistics.ts'

const { report, ...texts } = readOptions({
  rounds: { type: 'string', default: '5' },
  /** Milliseconds of load per round and point. */
  milliseconds: { type: 'string', default: '1000' },
  /** A folder for the picture. */
  report: { type: 'string' }
})
const rounds = parseNumber('rounds', texts.rounds)
const seconds = parseNumber('milliseconds', texts.milliseconds) / 1000
const connectionCounts = [1, 4, 16, 64, 256, 1024]
const bodySizes = [50, 500, 5000, 20_000, 60_000]
const databaseSizes = [0, 10_000, 1_000_000, 10_000_000]
const clients = 64

/** One measured point: a server with a number of connections and a kind of request. */
interface Point { panel: string, line: string, x: number, server: Server, connections: number, request: () => string }

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 5 }))
// The load gets core 1, the servers core 0, as in `npm run bench`.
const pinned = spawnSync('taskset', ['-acp', '1', String(process.pid)]).status === 0

const points = await listPoints()
const samples = new Map(points.map(point => [point, [] as number[]]))
for (const server of new Set(points.map(({ server }) => server))) await load(server, clients, 4)
for (let round = 1; round <= rounds; round++) {
  for (const [{ server, connections, request }, throughputs] of samples) {
    throughputs.push((await load(server, connections, seconds, request)).throughput)
  }
  console.error(`round ${round} of ${rounds}`)
}
const panels = Array.from(Map.groupBy(points, ({ panel }) => panel), ([title, points]): Panel => {
  const lines = Array.from(Map.groupBy(points, ({ line }) => line), ([name, points]): Line => {
    return { name, points: points.map(point => ({ x: point.x, y: median(samples.get(point) as number[]) })) }
  })
  return { title, lines }
})
for (const { title, lines } of panels) {
  console.log(`Requests per second, ${title}, medians of ${rounds} rounds of ${seconds} s, Node ${process.version}`)
  console.table(Object.fromEntries(lines.map(({ name, points }) => {
    return [name, Object.fromEntries(points.map(({ x, y }) => [`${x} `, Math.round(y)]))]
  })))
}
if (report !== undefined) {
  mkdirSync(report, { recursive: true })
  writeFileSync(join(report, 'growth.svg'), drawGrowth('Requests per second of POST /plants', panels))
}
process.exit()

async function listPoints (): Promise<Point[]> {
  const servers = await Promise.all([start('bare Fastify', {}), start('service, SQLite', {})])
  const [inOrder, atRandom] = [await startFilled('in order'), await startFilled('at random')]
  const request = nextRequest
  const bySize = (line: string, filled: FilledServer[], request: () => string) => filled.map(({ size, server }) => {
    return { panel: 'by plants in the database', line, x: size, server, connections: clients, request }
  })
  return [
    ...servers.flatMap(server => connectionCounts.map(connections => {
      return { panel: 'by connections', line: server.name, x: connections, server, connections, request }
    })),
    ...servers.flatMap(server => bodySizes.map(x => {
      return { panel: 'by bytes of the body', line: server.name, x, server, connections: clients, request: ofSize(x) }
    })),
    ...bySize('ids in order', inOrder, request),
    ...bySize('ids at random', atRandom, withRandomId)
  ]
}

function start (name: string, env: Record<string, string>): Promise<Server> {
  const file = name === 'bare Fastify' ? 'scripts/bench/bare.ts' : 'src/main.ts'
  const command = startCommand(ownCheckout, file)
  const cwd = mkdtempSync(join(folder, 'server-'))
  const service = { PORT: '0', ACCESS_TOKENS: token, DATABASE_URL: 'sqlite:plants.db' }
  return startServer({ name, command, env: { ...service, ...env } }, cwd, pinned ? ['taskset', '-c', '0'] : [])
}

interface FilledServer { size: number, server: Server }

/** A service for each size of the database. */
async function startFilled (name: string): Promise<FilledServer[]> {
  const servers: FilledServer[] = []
  for (const size of databaseSizes) {
    const path = join(folder, `${name} ${size}.db`)
    await fillSqlite(path, size)
    servers.push({ size, server: await start(`service, ${size}`, { DATABASE_URL: `sqlite:${path}` }) })
  }
  return servers
}

function withRandomId (): string {
  return postRequest('"name":"Boston fern","tag":"fern"', Math.floor(Math.random() * Number.MAX_SAFE_INTEGER))
}

/** Requests whose bodies have this many bytes. */
function ofSize (bytes: number): () => string {
  const others = '{"id":1000000000,"name":"","tag":"fern"}'.length
  const name = 'x'.repeat(bytes - others)
  return () => postRequest(`"name":"${name}","tag":"fern"`)
}
