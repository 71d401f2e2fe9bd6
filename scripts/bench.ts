// npm run bench: the service beside bare Fastify. All servers run from start to end, and each round loads one after the
// other. Prints medians of throughput and p99, the minimum of CPU time per request, and ratios to bare Fastify.
// The ratios of a second bare Fastify show the noise.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { load, token } from './bench-load.ts'
import type { Figures } from './bench-load.ts'
import { startServer } from './bench-server.ts'
import type { Program, Server } from './bench-server.ts'
import { parseNumber, parseNumbers, readOptions, refuse } from './options.ts'
import { median, ratio } from './statistics.ts'

const { unpinned, against, ...texts } = readOptions({
  rounds: { type: 'string', default: '15' },
  /** Seconds of load per round, server and connection count. */
  seconds: { type: 'string', default: '1' },
  connections: { type: 'string', default: '64,256' },
  /** Do not pin: the SQLite thread then often has its own core. */
  unpinned: { type: 'boolean', default: false },
  /** Folder of another checkout: its service is measured, too. */
  against: { type: 'string' }
})
const rounds = parseNumber('rounds', texts.rounds)
const seconds = parseNumber('seconds', texts.seconds)
const connectionCounts = new Set(parseNumbers('connections', texts.connections))
/** V8 has compiled the hot code after this many requests, on a busy machine too. */
const warmUpRequests = 100_000
/** Lets the server that was loaded last finish its requests before the next measurement. */
const pauseMs = 100
const bareName = 'bare Fastify'

interface Result extends Figures { name: string, connections: number }

const programs = listPrograms()
// Without taskset nothing is pinned. The load gets core 1, the servers get core 0.
const pinned = !unpinned && spawnSync('taskset', ['-acp', '1', String(process.pid)]).status === 0
const results = await measure(await startServers())
for (const [count, group] of Map.groupBy(results, ({ connections }) => connections)) print(count, group)
process.exit()

function listPrograms (): Program[] {
  const bare = { file: join(import.meta.dirname, 'bench-bare.ts'), env: {} }
  return [
    { name: bareName, ...bare },
    { name: `${bareName} again`, ...bare },
    ...services('service', join(import.meta.dirname, '..')),
    ...against === undefined ? [] : services(`service in ${basename(resolve(against))}`, resolve(against))
  ]
}

function services (name: string, checkout: string): Program[] {
  const file = join(checkout, 'src/main.ts')
  if (!existsSync(file)) refuse(`--against takes the folder of a checkout: there is no ${file}`)
  const env = { PORT: '0', ACCESS_TOKENS: token, LOG_LEVEL: 'info' }
  return [
    { name: `${name}, memory:`, file, env: { ...env, DATABASE_URL: 'memory:' } },
    { name: `${name}, SQLite`, file, env: { ...env, DATABASE_URL: `sqlite:${name}.db` } }
  ]
}

async function startServers (): Promise<Server[]> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
  // A killed server may still be closing its files: retry.
  process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 5 }))
  const prefix = pinned ? ['taskset', '-c', '0'] : []
  return Promise.all(programs.map(program => startServer(program, folder, prefix)))
}

async function measure (servers: Server[]): Promise<Result[]> {
  for (const server of servers) await warmUp(server)
  const results: Result[] = []
  for (let round = 1; round <= rounds; round++) {
    // Every other round runs backwards: no server always follows the same one.
    const order = round % 2 === 0 ? servers.toReversed() : servers
    for (const connections of connectionCounts) {
      for (const server of order) {
        await sleep(pauseMs)
        results.push({ name: server.name, connections, ...await load(server, connections, seconds) })
      }
    }
    console.error(`round ${round} of ${rounds}`)
  }
  return results
}

async function warmUp (server: Server): Promise<void> {
  for (let requests = 0; requests < warmUpRequests;) requests += (await load(server, 64, 1)).throughput
}

function print (connections: number, results: Result[]): void {
  const cores = pinned ? 'one core for the servers with all their threads' : 'not pinned to cores'
  console.log(`${rounds} rounds of ${seconds} s, ${connections} connections, Node ${process.version}, ${cores}`)
  const bare = summarize(results.filter(({ name }) => name === bareName))
  const servers = Map.groupBy(results, ({ name }) => name)
  console.table(Object.fromEntries(Array.from(servers, ([name, figures]) => [name, toRow(summarize(figures), bare)])))
}

function summarize (rounds: Figures[]): Figures {
  return {
    throughput: median(rounds.map(({ throughput }) => throughput)),
    p99: median(rounds.map(({ p99 }) => p99)),
    // Other processes can only add to CPU time, because they share caches and clock.
    cpu: Math.min(...rounds.map(({ cpu }) => cpu))
  }
}

function toRow ({ throughput, p99, cpu }: Figures, bare: Figures): object {
  return {
    'requests/s': Math.round(throughput),
    'of bare': ratio(throughput, bare.throughput),
    'p99 ms': p99.toFixed(1),
    'p99 x bare': ratio(p99, bare.p99),
    'CPU us/request': cpu.toFixed(1),
    'CPU x bare': ratio(cpu, bare.cpu)
  }
}
