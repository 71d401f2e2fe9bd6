// npm run bench -- throughput: the service beside bare Fastify. Several instances of each server
// run from start to end, and short rounds load one after the other: V8 compiles the same code
// better or worse, so that instances differ for good.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCheckout } from './checkout.ts'
import {
  bareFastify, pinToCores, type Program, project, readSettings, repeat, type Server, service,
  startInstances
} from './harness.ts'
import { load, ordinaryPlant, plantOfSize } from './load.ts'
import { checkAnswers, peerPrograms } from './peers.ts'
import { type LoadSample, printSummaries } from './summary.ts'

const settings = readSettings({
  rounds: 15,
  /** Of load per round, server and connection count. */
  milliseconds: 400,
  connections: [64, 256],
  /** The size of each body; 0 is an ordinary plant. */
  bytes: [0],
  /** Of each server: their differences are the noise. */
  instances: 3,
  /** The system chooses the cores: the thread of SQLite then often has its own. */
  unpinned: false,
  /** Measures each number of threads, beside as many processes of bare Fastify; not pinned. */
  threads: [] as number[],
  /** A revision or the folder of another checkout, whose service is measured, too. */
  against: '',
  /** Measures other servers of the same operation, too. */
  peers: false,
  /** A folder for results.json, which has all samples. */
  report: ''
})
/** V8 has compiled the hot code after this many requests. Slow peers get fewer. */
const warmUpRequests = 100_000
const warmUpSeconds = 6
/** The server that was loaded last finishes its requests before the next measurement. */
const pauseMs = 100

const programs = listPrograms()
const prefix = settings.unpinned || settings.threads.length > 0 ? [] : pinToCores()
const servers = await startInstances(programs, settings.instances, prefix)
for (const server of servers) await warmUp(server)
const samples: LoadSample[] = []
await repeat(settings.rounds, measureRound)

const conditions = `${settings.instances} instances of each server, ${settings.rounds} rounds of ` +
  `${settings.milliseconds} ms, Node ${process.version}, ` +
  (prefix.length > 0 ? 'one core for the servers with all their threads' : 'not pinned to cores')
console.log(conditions)
for (const [load, group] of Map.groupBy(samples, ({ load }) => load)) {
  console.log(load)
  printSummaries(group, settings.against)
}
if (settings.report !== '') writeReport(settings.report)
process.exit()

function listPrograms (): Program[] {
  const { threads, against, peers } = settings
  const programs = [bareFastify()]
  if (threads.length === 0) programs.push(...services('service'))
  for (const count of threads) {
    if (count > 1) programs.push(bareFastify(count))
    programs.push(...services(`service, ${count} threads`, project, count))
  }
  if (against !== '') {
    for (const program of services('service', findCheckout(against, '--omit=dev'))) {
      programs.push({ ...program, name: `${program.name} of ${against}` })
    }
  }
  if (peers) programs.push(...peerPrograms())
  return programs
}

function services (name: string, checkout = project, threads = 1): Program[] {
  const env = { LOG_LEVEL: 'info', THREADS: String(threads) }
  return [
    service(`${name}, memory:`, { ...env, DATABASE_URL: 'memory:' }, checkout),
    service(`${name}, SQLite`, env, checkout)
  ]
}

async function warmUp (server: Server): Promise<void> {
  if (!server.name.startsWith('bare')) await checkAnswers(server)
  let requests = 0
  for (let passed = 0; passed < warmUpSeconds && requests < warmUpRequests; passed++) {
    requests += (await load(server, 64, 1)).throughput
  }
}

async function measureRound (round: number): Promise<void> {
  // Every other round runs backwards: no server always follows the same one.
  const order = round % 2 === 0 ? servers.toReversed() : servers
  for (const connections of settings.connections) {
    for (const bytes of settings.bytes) {
      const name = `${connections} connections${bytes === 0 ? '' : `, ${bytes} bytes`}`
      const request = bytes === 0 ? ordinaryPlant : plantOfSize(bytes)
      for (const server of order) {
        await sleep(pauseMs)
        const figures = await load(server, connections, settings.milliseconds / 1000, request)
        samples.push({ server, load: name, round, ...figures })
      }
    }
  }
}

function writeReport (folder: string): void {
  const machine = cpus().map(({ model }) => model)
  const report = { date: new Date(), machine, versions: process.versions, conditions, samples }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(report)}\n`)
}
