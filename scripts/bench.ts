// npm run bench: the service beside bare Fastify. Several instances of each server run from start to end, and short
// rounds load one after the other: V8 compiles the same code better or worse, so that instances differ for good.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkoutOf, ownCheckout, startCommand } from './bench-checkout.ts'
import type { Checkout } from './bench-checkout.ts'
import { load, token } from './bench-load.ts'
import type { Figures } from './bench-load.ts'
import { startServer } from './bench-server.ts'
import type { Program, Server } from './bench-server.ts'
import { parseNumber, parseNumbers, readOptions } from './options.ts'
import { estimate, median, quotient } from './statistics.ts'
import type { Estimate } from './statistics.ts'

const { unpinned, against, ...texts } = readOptions({
  rounds: { type: 'string', default: '15' },
  /** Milliseconds of load per round, server and connection count. */
  milliseconds: { type: 'string', default: '400' },
  connections: { type: 'string', default: '64,256' },
  /** Instances of each server. */
  instances: { type: 'string', default: '3' },
  /** Do not pin: the SQLite thread then often has its own core. */
  unpinned: { type: 'boolean', default: false },
  /** A revision, or the folder of another checkout: its service is measured, too. */
  against: { type: 'string' }
})
const rounds = parseNumber('rounds', texts.rounds)
const seconds = parseNumber('milliseconds', texts.milliseconds) / 1000
const instances = parseNumber('instances', texts.instances)
const connectionCounts = new Set(parseNumbers('connections', texts.connections))
/** V8 has compiled the hot code after this many requests, on a busy machine too. */
const warmUpRequests = 100_000
/** Lets the server that was loaded last finish its requests before the next measurement. */
const pauseMs = 100
const bareName = 'bare Fastify'

interface Sample extends Figures { server: Server, connections: number, round: number }

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
// A killed server may still be closing its files: retry.
process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 5 }))
const programs = listPrograms()
// Without taskset nothing is pinned. The load gets core 1, the servers get core 0.
const pinned = !unpinned && spawnSync('taskset', ['-acp', '1', String(process.pid)]).status === 0
const samples = await measure(await startServers())
for (const [count, group] of Map.groupBy(samples, ({ connections }) => connections)) print(count, group)
process.exit()

function listPrograms (): Program[] {
  return [
    { name: bareName, command: startCommand(ownCheckout, 'scripts/bench-bare.ts'), env: {} },
    ...services('service', ownCheckout),
    ...against === undefined ? [] : services(`service of ${against}`, checkoutOf(against, folder))
  ]
}

function services (name: string, checkout: Checkout): Program[] {
  const command = startCommand(checkout, 'src/main.ts')
  const env = { PORT: '0', ACCESS_TOKENS: token, LOG_LEVEL: 'info' }
  return [
    { name: `${name}, memory:`, command, env: { ...env, DATABASE_URL: 'memory:' } },
    { name: `${name}, SQLite`, command, env: { ...env, DATABASE_URL: 'sqlite:plants.db' } }
  ]
}

/** Neighbours in the result are instances of different programs. */
async function startServers (): Promise<Server[]> {
  const prefix = pinned ? ['taskset', '-c', '0'] : []
  const started = Array.from({ length: instances }, () => programs.map(program => {
    return startServer(program, mkdtempSync(join(folder, 'server-')), prefix)
  }))
  return Promise.all(started.flat())
}

async function measure (servers: Server[]): Promise<Sample[]> {
  for (const server of servers) await warmUp(server)
  const samples: Sample[] = []
  for (let round = 1; round <= rounds; round++) {
    // Every other round runs backwards: no server always follows the same one.
    const order = round % 2 === 0 ? servers.toReversed() : servers
    for (const connections of connectionCounts) {
      for (const server of order) {
        await sleep(pauseMs)
        samples.push({ server, connections, round, ...await load(server, connections, seconds) })
      }
    }
    console.error(`round ${round} of ${rounds}`)
  }
  return samples
}

async function warmUp (server: Server): Promise<void> {
  for (let requests = 0; requests < warmUpRequests;) requests += (await load(server, 64, 1)).throughput
}

function print (connections: number, samples: Sample[]): void {
  const cores = pinned ? 'one core for the servers with all their threads' : 'not pinned to cores'
  console.log(`${instances} instances of each server, ${rounds} rounds of ${seconds} s, ${connections} connections, ` +
    `Node ${process.version}, ${cores}`)
  const byName = Map.groupBy(addShares(samples), ({ server }) => server.name)
  const summaries = Array.from(byName, ([name, group]) => ({ name, ...summarize(group) }))
  const bare = summaries[0] as Summary
  console.table(Object.fromEntries(summaries.map(summary => [summary.name, toRow(summary, bare)])))
}

/** Throughput as a share of bare Fastify's in the same round: the machine is slower in some rounds than in others. */
function addShares (samples: Sample[]) {
  return [...Map.groupBy(samples, ({ round }) => round).values()].flatMap(round => {
    const bare = median(round.filter(({ server }) => server.name === bareName).map(({ throughput }) => throughput))
    return round.map(sample => ({ ...sample, share: sample.throughput / bare }))
  })
}

interface Summary { throughput: number, share: Estimate, p99: number, cpu: Estimate }

/** From the samples of all instances of a program. */
function summarize (samples: ReturnType<typeof addShares>): Summary {
  const instances = [...Map.groupBy(samples, ({ server }) => server.pid).values()]
  return {
    throughput: median(samples.map(({ throughput }) => throughput)),
    p99: median(samples.map(({ p99 }) => p99)),
    share: estimate(instances.map(rounds => median(rounds.map(({ share }) => share)))),
    // Other processes can only add to CPU time, because they share caches and clock.
    cpu: estimate(instances.map(rounds => Math.min(...rounds.map(({ cpu }) => cpu))))
  }
}

function toRow ({ throughput, share, p99, cpu }: Summary, bare: Summary): object {
  return {
    'requests/s': Math.round(throughput),
    'of bare': quotient(share, bare.share),
    'p99 ms': p99.toFixed(1),
    'CPU us/request': cpu.value.toFixed(1),
    'CPU x bare': quotient(cpu, bare.cpu)
  }
}
