// npm run bench: the service beside bare Fastify. Several instances of each server run from start to end, and short
// rounds load one after the other: V8 compiles the same code better or worse, so that instances differ for good.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkoutOf, ownCheckout, startCommand } from './checkout.ts'
import type { Checkout } from './checkout.ts'
import { load, token } from './load.ts'
import { checkAnswers, peerPrograms } from './peers.ts'
import { writeReport } from './report.ts'
import { startServer } from './server.ts'
import type { Program, Server } from './server.ts'
import { summarize, toTable } from './summary.ts'
import type { Sample } from './summary.ts'
import { parseNumber, parseNumbers, readOptions } from '../options.ts'

const { unpinned, threads, against, peers, report, ...texts } = readOptions({
  rounds: { type: 'string', default: '15' },
  /** Milliseconds of load per round, server and connection count. */
  milliseconds: { type: 'string', default: '400' },
  connections: { type: 'string', default: '64,256' },
  /** Instances of each server: their differences are the noise. */
  instances: { type: 'string', default: '3' },
  /** Do not pin: the SQLite thread then often has its own core. */
  unpinned: { type: 'boolean', default: false },
  /** Numbers of threads, such as 1,2: the service with each, beside as many processes of bare Fastify, not pinned. */
  threads: { type: 'string' },
  /** A revision, or the folder of another checkout: its service is measured, too. */
  against: { type: 'string' },
  /** Other servers of the same operation are measured, too. */
  peers: { type: 'boolean', default: false },
  /** A folder for a picture and all samples. */
  report: { type: 'string' }
})
const rounds = parseNumber('rounds', texts.rounds)
const seconds = parseNumber('milliseconds', texts.milliseconds) / 1000
const instances = parseNumber('instances', texts.instances, 2)
const connectionCounts = new Set(parseNumbers('connections', texts.connections))
/** V8 has compiled the hot code after this many requests, on a busy machine too. Slow peers get fewer. */
const warmUpRequests = 100_000
const warmUpSeconds = 6
/** Lets the server that was loaded last finish its requests before the next measurement. */
const pauseMs = 100

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
// A killed server may still be closing its files: retry.
process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 5 }))
const bareName = 'bare Fastify'
const bareCommand = startCommand(ownCheckout, 'scripts/bench/bare.ts')
const programs = listPrograms()
// Without taskset nothing is pinned. The load gets core 1, the servers get core 0.
const mayPin = !unpinned && threads === undefined
const pinned = mayPin && spawnSync('taskset', ['-acp', '1', String(process.pid)]).status === 0
const samples = await measure(await startServers())
const conditions = `${instances} instances of each server, ${rounds} rounds of ${seconds} s, ` +
  `Node ${process.version}, ${pinned ? 'one core for the servers with all their threads' : 'not pinned to cores'}`
const results = Array.from(Map.groupBy(samples, ({ connections }) => connections), ([connections, group]) => {
  return { connections, summaries: summarize(group) }
})
console.log(conditions)
for (const { connections, summaries } of results) {
  console.log(`${connections} connections`)
  console.table(toTable(summaries))
}
if (report !== undefined) writeReport(report, { conditions, results, samples })
process.exit()

function listPrograms (): Program[] {
  return [
    { name: bareName, command: bareCommand, env: {} },
    ...threads === undefined ? services('service', ownCheckout) : withThreads([...parseNumbers('threads', threads)]),
    ...against === undefined ? [] : services(`service of ${against}`, checkoutOf(against, folder)),
    ...peers ? peerPrograms() : []
  ]
}

function withThreads (counts: number[]): Program[] {
  return counts.flatMap(count => {
    const bare = { name: `${bareName}, ${count} processes`, command: [...bareCommand, String(count)], env: {} }
    return [
      ...count === 1 ? [] : [bare],
      ...services(`service, ${count} threads`, ownCheckout, { THREADS: String(count) })
    ]
  })
}

function services (name: string, checkout: Checkout, more: Record<string, string> = { THREADS: '1' }): Program[] {
  const command = startCommand(checkout, 'src/main.ts')
  const env = { PORT: '0', ACCESS_TOKENS: token, LOG_LEVEL: 'info', ...more }
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
  for (const server of servers) {
    if (!server.name.startsWith(bareName)) await checkAnswers(server)
    await warmUp(server)
  }
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
  let requests = 0
  for (let passed = 0; passed < warmUpSeconds && requests < warmUpRequests; passed++) {
    requests += (await load(server, 64, 1)).throughput
  }
}
