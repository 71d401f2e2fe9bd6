// npm run bench -- overload: the service and its memory with more clients than it can serve. In
// turn, each connection sends one request after another. At a rate, by default twice the peak, a
// request that finds no free connection is not sent. The load takes a part of the same cores, so
// its CPU is printed, too.
import {
  bareFastify, pinToCores, printMedians, readSettings, repeat, residentMiB, type Sample, service,
  startServer
} from './harness.ts'
import { ordinaryPlant, pushRequests } from './load.ts'
import { median, p99 } from './statistics.ts'

const { rounds, seconds, connections, percent, bare, pinned } = readSettings({
  rounds: 5,
  /** Of load per round, connection count and kind of load. */
  seconds: 3,
  connections: [50, 500, 5000],
  /** Load as a share of the peak of the same round. */
  percent: 200,
  /** Measures bare Fastify instead of the service. */
  bare: false,
  /** Gives one core to the service, which then has one thread, and the other one to the load. */
  pinned: false
})
/** Options of V8 and the number of threads of the service. */
const { NODE_OPTIONS = '', THREADS } = process.env
const env = THREADS === undefined ? { NODE_OPTIONS } : { NODE_OPTIONS, THREADS }
const program = bare ? bareFastify() : service('service, SQLite', env)
const server = await startServer(program, pinned ? pinToCores() : [])
const idleMiB = residentMiB(server)
const inTurn = (connections: number, seconds: number) => {
  return pushRequests(server, ordinaryPlant, { connections, perSecond: Infinity, seconds })
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
  const pushed = await pushRequests(server, ordinaryPlant, rate)
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
