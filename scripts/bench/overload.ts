// npm run bench -- overload: the service and its memory at a share of its peak load, by default
// twice the peak. Requests come at a fixed rate; one that finds no free connection is not sent.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bareFastify, pinToCores, printMedians, readSettings, repeat, residentMiB, type Sample, service,
  startServer
} from './harness.ts'
import { load, ordinaryPlant, sendAtRate } from './load.ts'
import { median, p99 } from './statistics.ts'

const { rounds, seconds, connections, percent, bare } = readSettings({
  rounds: 5,
  /** Of load per round and connection count. */
  seconds: 3,
  connections: [50, 500, 5000],
  /** Load as a share of the peak of the same round. */
  percent: 200,
  /** Measures bare Fastify instead of the service. */
  bare: false
})
/** Options of V8 for the service. */
const { NODE_OPTIONS = '' } = process.env
const prefix = pinToCores()
const program = bare ? bareFastify() : service('service, SQLite', { NODE_OPTIONS })
const server = await startServer(program, prefix)
const idleMiB = residentMiB(server)
// V8 has compiled the hot code after this many seconds.
await load(server, 64, 4)
const samples: Sample[] = []
await repeat(rounds, async () => {
  const { throughput: peak } = await load(server, 64, Math.min(seconds, 5))
  for (const count of connections) samples.push(await overload(count, peak))
})
const title = `${rounds} rounds of ${seconds} s at ${percent} % of the peak`
printMedians(`${program.name}, ${title}, ${idleMiB.toFixed(0)} MiB when idle`, samples)
process.exit()

async function overload (connections: number, peak: number): Promise<Sample> {
  const rate = { connections, perSecond: peak * percent / 100, seconds }
  const { latencies, refused } = await sendAtRate(server, ordinaryPlant, rate, true)
  const figures = {
    'stored/s': latencies.length / seconds,
    'of the peak': latencies.length / seconds / peak,
    'p50 ms': median(latencies),
    'p99 ms': p99(latencies),
    'refused %': 100 * refused / (refused + latencies.length),
    MiB: residentMiB(server)
  }
  // Requests in progress end before the next measurement.
  await sleep(500)
  return { name: `${connections} connections`, figures }
}
