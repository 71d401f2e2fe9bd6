// npm run bench -- overload: the service and its memory with more clients than it can serve. In
// turn, each connection sends one request after another. At a rate, by default twice the peak, a
// request that finds no free connection is not sent. The load takes a part of the same cores, so
// its CPU is printed, too.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bareFastify, cpuTime, pinToCores, printMedians, readSettings, repeat, residentMiB, type Sample,
  service, startServer
} from './harness.ts'
import { close, type Connection, open, ordinaryPlant, type Rate, send, turn } from './load.ts'
import { median, p99 } from './statistics.ts'

const { rounds, seconds, connections, percent, bare, commits, pinned } = readSettings({
  rounds: 5,
  /** Of load per round, connection count and kind of load. */
  seconds: 3,
  connections: [50, 500, 5000],
  /** Load as a share of the peak of the same round. */
  percent: 200,
  /** Measures bare Fastify instead of the service. */
  bare: false,
  /** Bare Fastify commits each plant alone to SQLite. */
  commits: false,
  /** Gives one core to the service, which then has one thread, and the other one to the load. */
  pinned: false
})
/** Milliseconds, after which a missing response ends the bench with an error. */
const lateMs = 20_000
/** Options of V8 and the number of threads of the service. */
const { NODE_OPTIONS = '', THREADS } = process.env
const env = THREADS === undefined ? { NODE_OPTIONS } : { NODE_OPTIONS, THREADS }
const program = bare ? bareFastify(1, commits ? 'sqlite' : '') : service('service, SQLite', env)
const server = await startServer(program, pinned ? pinToCores() : [])
const idleMiB = residentMiB(server)
const inTurn = (connections: number, seconds: number) => {
  return pushPlants({ connections, perSecond: Infinity, seconds })
}
// V8 has compiled the hot code after this many seconds.
await inTurn(64, 4)
const samples: Sample[] = []
await repeat(rounds, async () => {
  const peakSeconds = Math.min(seconds, 5)
  const peak = (await inTurn(64, peakSeconds)).stored / peakSeconds
  for (const count of connections) {
    samples.push(await measure(`${count} in turn`, count, Infinity, peak))
    samples.push(await measure(`${count} at ${percent} %`, count, peak * percent / 100, peak))
  }
})
const title = `${rounds} rounds of ${seconds} s${pinned ? ', pinned' : ''}`
printMedians(`${program.name}, ${title}, ${idleMiB.toFixed(0)} MiB when idle`, samples)
process.exit()

async function measure (
  name: string, connections: number, perSecond: number, peak: number
): Promise<Sample> {
  const rate = { connections, perSecond, seconds }
  const pushed = await pushPlants(rate)
  const figures = {
    'stored/s': pushed.stored / seconds,
    'of the peak': pushed.stored / seconds / peak,
    'p50 ms': median(pushed.latencies),
    'p99 ms': p99(pushed.latencies),
    'refused %': 100 * pushed.refused / (pushed.refused + pushed.latencies.length),
    'service CPU %': pushed.serviceCpu,
    'load CPU %': pushed.loadCpu,
    MiB: residentMiB(server)
  }
  return { name, figures }
}

/**
 * Sends more plants than the server can store, and accepts 503. A request that finds no free
 * connection is not sent. With an infinite rate, each connection sends one after another.
 * @returns responses 200 in the time of the load, CPU in percent of a core, responses 503, and the
 * milliseconds of all responses 200, also of those after the load
 */
async function pushPlants ({ connections: count, perSecond, seconds }: Rate) {
  const { port, pid } = server
  const latencies: number[] = []
  const free: Connection[] = []
  let refused = 0
  let isOver = false
  const connections = await open(port, count, (connection, status) => {
    if (status === '200') latencies.push(performance.now() - connection.sent)
    else if (status === '503') refused++
    else throw new Error(`Unexpected response: ${status}`)
    if (perSecond === Infinity && !isOver) send(connection, ordinaryPlant())
    else free.push(connection)
  })
  const [service, load, began] = [cpuTime(pid), process.cpuUsage(), performance.now()]
  if (perSecond === Infinity) {
    for (const connection of connections) send(connection, ordinaryPlant())
    await sleep(seconds * 1000)
  } else {
    free.push(...connections)
    for (let arrived = 0; arrived < seconds * perSecond; arrived++) {
      const due = began + arrived * 1000 / perSecond
      while (performance.now() < due) await turn()
      const connection = free.shift()
      if (connection !== undefined) send(connection, ordinaryPlant())
    }
  }
  isOver = true
  const microseconds = (performance.now() - began) * 1000
  const { user, system } = process.cpuUsage(load)
  const pushed = {
    stored: latencies.length,
    serviceCpu: 100 * (cpuTime(pid) - service) / microseconds,
    loadCpu: 100 * (user + system) / microseconds
  }
  const until = performance.now() + lateMs
  while (free.length < connections.length) {
    if (performance.now() > until) throw new Error('A response is missing.')
    await sleep(5)
  }
  close(connections)
  return { ...pushed, refused, latencies }
}
