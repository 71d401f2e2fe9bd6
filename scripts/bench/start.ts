// npm run bench -- start: the time from the start of a process to its first 200, for bare Fastify
// and for the service alike with a compile cache and without.
import { join } from 'node:path'
import {
  bareFastify, folder, printMedians, type Program, readSettings, repeat, type Sample, service,
  startServer, stopServer, token
} from './harness.ts'

const { rounds } = readSettings({ rounds: 9 })
const cached = { NODE_COMPILE_CACHE: join(folder, 'cache') }
const env = { ...cached, THREADS: '1' }
const programs = [
  { ...bareFastify(), env: cached },
  service('service, memory:', { ...env, DATABASE_URL: 'memory:' }),
  service('service, SQLite', env),
  service('service, SQLite, 2 threads', { ...env, THREADS: '2' }),
  { ...bareFastify(), name: 'bare Fastify, the first start' },
  service('service, SQLite, the first start', { THREADS: '1' }),
  service('service, SQLite, 2 threads, the first start', { THREADS: '2' })
]
const samples: Sample[] = []
// Node writes the cache when a process ends.
for (const program of programs) await measure(program)
await repeat(rounds, async () => {
  for (const program of programs) {
    samples.push({ name: program.name, figures: { ms: await measure(program) } })
  }
})
printMedians(`Milliseconds from start to first 200, ${rounds} rounds`, samples, ['ms'])

/** Milliseconds from the start of the process to its first 200. */
async function measure (program: Program): Promise<number> {
  const began = performance.now()
  const server = await startServer(program)
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const body = '{"id":1,"name":"Boston fern"}'
  const url = `http://127.0.0.1:${server.port}/plants`
  const { status } = await fetch(url, { method: 'POST', headers, body })
  const took = performance.now() - began
  if (status !== 200) throw new Error(`${program.name} answered ${status}`)
  await stopServer(server)
  return took
}
