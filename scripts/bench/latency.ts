// npm run bench -- latency: how long ordinary requests take while the service does something slow
// for others. Requests come at a fixed rate; each waits from the moment at which it was due.
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  folder, pinToCores, printMedians, readSettings, repeat, type Sample, type Server, service,
  startServer
} from './harness.ts'
import { keepSending, load, ordinaryPlant, postRequest, sendAtRate } from './load.ts'
import { median, p99 } from './statistics.ts'

/** `seconds` per round and scenario; `rate` is that of plants, and also that of /livez. */
const { rounds, seconds, rate } = readSettings({ rounds: 5, seconds: 3, rate: 500 })
const checkpointMs = 50
const livez = () => 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Starts something slow; returns what ends it. */
type Disturbance = (server: Server) => (() => unknown) | Promise<() => unknown>
interface Scenario { name: string, disturb: Disturbance, server: Server, samples: Sample[] }

const prefix = pinToCores()
const scenarios: Scenario[] = []
const ordinary: Sample[] = []
const traced: Sample[] = []
await addScenarios()
for (const { server } of scenarios) await load(server, 64, 2)
await repeat(rounds, async () => {
  for (const scenario of scenarios) await measure(scenario)
})
const title = `Milliseconds of ${rate} plants and ${rate} requests for /livez a second`
printMedians(title, ordinary, ['plants p99', '/livez p99'])
if (traced.length > 0) printMedians('The same under strace', traced, ['plants p99', '/livez p99'])
else console.log('Without strace no sync is delayed.')
process.exit()

async function addScenarios (): Promise<void> {
  const members = Array.from({ length: 5000 }, (_, index) => `"${index.toString(36)}":1e9`)
  const server = await start('ordinary', [])
  const add = (name: string, disturb: Disturbance) => {
    scenarios.push({ name, disturb, server, samples: ordinary })
  }
  add('nothing', () => () => {})
  add(`a checkpoint every ${checkpointMs} ms`, checkpoints)
  add('one client with names of 64 KB', bodies(`"name":"${'x'.repeat(65_000)}"`))
  add('one client with 5,000 other members', bodies(`"name":"x",${members.join()}`))

  if (spawnSync('strace', ['-V']).status !== 0) return
  const strace = ['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', 'trace=fdatasync,fsync']
  const delay = ['-e', 'inject=fdatasync,fsync:delay_enter=5000']
  const addTraced = async (name: string, command: string[]) => {
    const server = await start(name, command)
    scenarios.push({ name, disturb: () => () => {}, server, samples: traced })
  }
  await addTraced('nothing', strace)
  await addTraced('syncs of 5 ms more', [...strace, ...delay])
}

function start (name: string, command: string[]): Promise<Server> {
  const program = service(name, { DATABASE_URL: `sqlite:${databaseOf(name)}` })
  return startServer(program, [...prefix, ...command])
}

function databaseOf (name: string): string {
  return join(folder, `${name}.db`)
}

async function measure ({ name, disturb, server, samples }: Scenario): Promise<void> {
  await sleep(500)
  const end = await disturb(server)
  const load = { connections: 32, perSecond: rate, seconds }
  const [plants, alive] = await Promise.all([
    sendAtRate(server, ordinaryPlant, load),
    sendAtRate(server, livez, load)
  ])
  await end()
  const figures = {
    'plants p50': median(plants),
    'plants p99': p99(plants),
    '/livez p50': median(alive),
    '/livez p99': p99(alive)
  }
  samples.push({ name, figures })
}

/** In another process, because a checkpoint blocks. */
function checkpoints ({ name }: Server): () => unknown {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', `
    import { DatabaseSync } from 'node:sqlite'
    const database = new DatabaseSync(${JSON.stringify(databaseOf(name))})
    setInterval(() => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'), ${checkpointMs})
  `])
  return () => child.kill()
}

/** Sends plants with these members, one after another. */
function bodies (members: string): Disturbance {
  return server => keepSending(server, 1, () => postRequest(members))
}
