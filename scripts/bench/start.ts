// npm run bench:start: the time from the start of a process to its first 200, beside bare Fastify.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownCheckout, startCommand } from './checkout.ts'
import { token } from './load.ts'
import { startServer, stopServer } from './server.ts'
import type { Program } from './server.ts'
import { parseNumber, readOptions } from '../options.ts'
import { median, ratio } from './statistics.ts'

const rounds = parseNumber('rounds', readOptions({ rounds: { type: 'string', default: '9' } }).rounds)
const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 5 }))

const command = startCommand(ownCheckout, 'src/main.ts')
const env = { PORT: '0', ACCESS_TOKENS: token, THREADS: '1' }
const cached = { ...env, NODE_COMPILE_CACHE: join(folder, 'cache') }
const bareName = 'bare Fastify'
const programs: Program[] = [
  { name: bareName, command: startCommand(ownCheckout, 'scripts/bench/bare.ts'), env: {} },
  { name: 'service, memory:', command, env: { ...cached, DATABASE_URL: 'memory:' } },
  { name: 'service, SQLite', command, env: { ...cached, DATABASE_URL: 'sqlite:plants.db' } },
  { name: 'service, SQLite, 2 threads', command, env: { ...cached, DATABASE_URL: 'sqlite:plants.db', THREADS: '2' } },
  { name: 'service, SQLite, the first start', command, env: { ...env, DATABASE_URL: 'sqlite:plants.db' } }
]

const times = new Map(programs.map(({ name }) => [name, [] as number[]]))
// Node writes the cache when a process ends.
for (const program of programs) await measure(program)
for (let round = 1; round <= rounds; round++) {
  for (const program of programs) times.get(program.name)?.push(await measure(program))
  console.error(`round ${round} of ${rounds}`)
}
const bare = median(times.get(bareName) ?? [])
console.log(`Milliseconds from start to first 200, medians of ${rounds} rounds, Node ${process.version}`)
console.table(Object.fromEntries(Array.from(times, ([name, samples]) => {
  return [name, { ms: Math.round(median(samples)), 'x bare': ratio(median(samples), bare) }]
})))

/** Milliseconds from the start of the process to its first 200. */
async function measure (program: Program): Promise<number> {
  const began = performance.now()
  const server = await startServer(program, mkdtempSync(join(folder, 'server-')), [])
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const body = '{"id":1,"name":"Boston fern"}'
  const { status } = await fetch(`http://127.0.0.1:${server.port}/plants`, { method: 'POST', headers, body })
  const took = performance.now() - began
  if (status !== 200) throw new Error(`${program.name} answered ${status}`)
  await stopServer(server)
  return took
}
