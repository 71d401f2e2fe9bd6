// npm run bench:overload: the service under twice the load that it can serve. Requests come at a fixed rate, however
// long the responses take (open loop); one that finds no free connection is not sent.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownCheckout, startCommand } from './checkout.ts'
import { load, nextRequest, open, token } from './load.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'
import { parseNumber, parseNumbers, readOptions } from '../options.ts'
import { median, p99, ratio } from './statistics.ts'

const texts = readOptions({
  rounds: { type: 'string', default: '5' },
  /** Seconds of load per round and connection count. */
  seconds: { type: 'string', default: '3' },
  connections: { type: 'string', default: '50,500,5000' },
  /** Load as a multiple of the peak of the same round. */
  factor: { type: 'string', default: '2' }
})
/** Options of V8 for the service. */
const { NODE_OPTIONS = '' } = process.env
const rounds = parseNumber('rounds', texts.rounds)
const seconds = parseNumber('seconds', texts.seconds)
const factor = parseNumber('factor', texts.factor)
const connectionCounts = new Set(parseNumbers('connections', texts.connections))

interface Result { connections: number, ofPeak: number, goodput: number, p50: number, p99: number, refused: number }

// The load gets core 1, the service core 0 with all its threads, as in `npm run bench`.
const pinned = spawnSync('taskset', ['-acp', '1', String(process.pid)]).status === 0
const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 5 }))
const server = await startServer({
  name: 'service, SQLite',
  command: startCommand(ownCheckout, 'src/main.ts'),
  env: { PORT: '0', ACCESS_TOKENS: token, DATABASE_URL: 'sqlite:plants.db', NODE_OPTIONS }
}, folder, pinned ? ['taskset', '-c', '0'] : [])

// V8 has compiled the hot code after this many seconds.
await load(server, 64, 4)
const results: Result[] = []
for (let round = 1; round <= rounds; round++) {
  const { throughput: peak } = await load(server, 64, seconds)
  for (const connections of connectionCounts) {
    const result = await overload(server, connections, factor * peak)
    results.push({ ...result, connections, ofPeak: result.goodput / peak })
    // Requests in progress end before the next measurement.
    await sleep(500)
  }
  console.error(`round ${round} of ${rounds}`)
}
const groups = Map.groupBy(results, ({ connections }) => `${connections} connections`)
console.log(`${rounds} rounds of ${seconds} s at ${factor} times the peak, Node ${process.version}, ` +
  `${pinned ? 'one core for the service with all its threads' : 'not pinned to cores'}; medians`)
console.table(Object.fromEntries(Array.from(groups, ([name, group]) => [name, toRow(group)])))
process.exit()

/** Sends requests at a rate per second; `refused` is the share of 503 among the responses. */
async function overload ({ port }: Server, connections: number, rate: number) {
  const free: Connection[] = []
  const latencies: number[] = []
  let refused = 0
  for (let count = 0; count < connections; count++) {
    const connection = { socket: await open(port), sent: 0 }
    connection.socket.on('data', response => {
      // A response of a few hundred bytes arrives in one piece.
      const status = response.toString('latin1', 9, 12)
      if (status === '200') latencies.push(performance.now() - connection.sent)
      else if (status === '503') refused++
      else throw new Error(`Unexpected response: ${response}`)
      free.push(connection)
    })
    free.push(connection)
  }
  const sockets = free.map(({ socket }) => socket)
  const began = performance.now()
  let elapsed = 0
  for (let arrived = 0; elapsed < seconds * 1000; elapsed = performance.now() - began) {
    for (; arrived < elapsed * rate / 1000; arrived++) {
      const connection = free.shift()
      if (connection === undefined) continue
      connection.sent = performance.now()
      connection.socket.write(nextRequest())
    }
    await new Promise(setImmediate)
  }
  const goodput = latencies.length / elapsed * 1000
  for (const socket of sockets) socket.destroy()
  return { goodput, p50: median(latencies), p99: p99(latencies), refused: refused / (refused + latencies.length) }
}

interface Connection { socket: Awaited<ReturnType<typeof open>>, sent: number }

function toRow (rounds: Result[]): object {
  const medianOf = (name: keyof Result) => median(rounds.map(result => result[name]))
  return {
    'stored/s': Math.round(medianOf('goodput')),
    'of the peak': ratio(medianOf('ofPeak'), 1),
    'p50 ms': medianOf('p50').toFixed(0),
    'p99 ms': medianOf('p99').toFixed(0),
    refused: `${(100 * medianOf('refused')).toFixed(0)} %`
  }
}
