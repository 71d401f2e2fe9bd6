// npm run bench:latency: how long ordinary requests take while the service does something slow for others. Requests come
// at a fixed rate, however long the responses take; each waits from the moment at which it was due.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn, spawnSync } from 'node:child_process'
import { execPath } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownCheckout, startCommand } from './checkout.ts'
import { load, nextRequest, open, postRequest, sendAtRate, token } from './load.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'
import { parseNumber, readOptions } from '../options.ts'
import { median, p99, ratio } from './statistics.ts'

const texts = readOptions({
  rounds: { type: 'string', default: '5' },
  /** Seconds of load per round and disturbance. */
  seconds: { type: 'string', default: '3' },
  /** Plants per second, and as many requests for /livez. */
  rate: { type: 'string', default: '500' }
})
const rounds = parseNumber('rounds', texts.rounds)
const seconds = parseNumber('seconds', texts.seconds)
const rate = parseNumber('rate', texts.rate)
type Kind = 'plants' | '/livez'
/** Milliseconds between two checkpoints. */
const checkpointMs = 50
/** Microseconds by which strace delays each sync. */
const delayedSync = 'inject=fdatasync,fsync:delay_enter=5000'

/** Starts something slow; returns a function that ends it. */
type Disturbance = (server: Server) => () => void

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 5 }))
// The load gets core 1, the service core 0 with all its threads, as in `npm run bench`.
const pinned = spawnSync('taskset', ['-acp', '1', String(process.pid)]).status === 0
const prefix = pinned ? ['taskset', '-c', '0'] : []
const ordinary = await start('ordinary', prefix)
const hasStrace = spawnSync('strace', ['-V']).status === 0
const tracing = ['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', 'trace=fdatasync,fsync']
const scenarios: Array<[string, Server, Disturbance]> = [
  ['nothing', ordinary, () => () => {}],
  [`a checkpoint every ${checkpointMs} ms`, ordinary, checkpoints],
  ['one client with names of 64 KB', ordinary, bodies(`"name":"${'x'.repeat(65_000)}"`)],
  ['one client with 5,000 other members', ordinary, bodies(`"name":"x",${manyMembers()}`)],
  ...!hasStrace
    ? []
    : [
      ['nothing, under strace', await start('traced', [...prefix, ...tracing]), () => () => {}],
      ['syncs of 5 ms more, under strace', await start('delayed', [...prefix, ...tracing, '-e', delayedSync]), () => () => {}]
    ] satisfies Array<[string, Server, Disturbance]>
]
for (const [, server] of scenarios) await load(server, 64, 2)
const results: Array<Record<Kind, number[]> & { name: string }> = []
for (let round = 1; round <= rounds; round++) {
  for (const [name, server, disturb] of scenarios) {
    await sleep(500)
    const end = disturb(server)
    const [plants, livez] = await Promise.all([
      sendAtRate(server, nextRequest, rate, seconds),
      sendAtRate(server, () => 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n', rate, seconds)
    ])
    end()
    results.push({ name, plants, '/livez': livez })
  }
  console.error(`round ${round} of ${rounds}`)
}
console.log(`Milliseconds of ${rate} plants and ${rate} requests for /livez a second; medians of ${rounds} rounds of ` +
  `${seconds} s, Node ${process.version}${hasStrace ? '' : '. Without strace no sync is delayed'}`)
console.table(Object.fromEntries(scenarios.map(([name, server]) => {
  const basis = server === ordinary ? 'nothing' : 'nothing, under strace'
  return [name, { ...row(name, basis, 'plants'), ...row(name, basis, '/livez') }]
})))
process.exit()

function row (name: string, basis: string, kind: Kind): object {
  const figure = (of: string, statistic: (samples: number[]) => number) => {
    return median(results.filter(result => result.name === of).map(result => statistic(result[kind])))
  }
  return {
    [`${kind} p50`]: figure(name, median).toFixed(1),
    [`${kind} p99`]: figure(name, p99).toFixed(1),
    [`${kind} p99 x`]: ratio(figure(name, p99), figure(basis, p99))
  }
}

function start (name: string, prefix: string[]): Promise<Server> {
  const env = { PORT: '0', ACCESS_TOKENS: token, DATABASE_URL: `sqlite:${databaseOf({ name })}` }
  return startServer({ name, command: startCommand(ownCheckout, 'src/main.ts'), env }, folder, prefix)
}

function databaseOf ({ name }: Pick<Server, 'name'>): string {
  return join(folder, `${name}.db`)
}

/** In another process, because a checkpoint blocks. */
function checkpoints (server: Server): () => void {
  const process = spawn(execPath, ['--input-type=module', '--eval', `
    import { DatabaseSync } from 'node:sqlite'
    const database = new DatabaseSync(${JSON.stringify(databaseOf(server))})
    setInterval(() => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'), ${checkpointMs})
  `])
  return () => { process.kill() }
}

/** Sends plants with these members, one after another. */
function bodies (members: string): Disturbance {
  return server => {
    const opening = open(server.port)
    opening.then(socket => {
      const send = () => socket.write(postRequest(members))
      socket.on('data', send)
      send()
    })
    return () => { opening.then(socket => socket.destroy()) }
  }
}

function manyMembers (): string {
  return Array.from({ length: 5000 }, (_, index) => `"${index.toString(36)}":1e9`).join()
}
