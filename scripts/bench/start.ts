// npm run bench -- start: the time from the start of a process to its first 200, and its memory
// then, for bare Fastify as plain JavaScript and for the service, from its bundle and from its
// source, alike with a compile cache and without.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import {
  bareFastify, folder, printMedians, type Program, project, readSettings, repeat, residentMiB,
  type Sample, service, startServer, stopServer, token
} from './harness.ts'

const { rounds } = readSettings({ rounds: 9 })
// Below node_modules, where it finds its packages.
const bare = join(project, 'node_modules/.cache/bench/bare.js')
const bundle = join(project, 'dist/main.js')
const source = join(project, 'src/main.ts')
run('esbuild', 'scripts/bench/bare.ts', '--bundle', '--packages=external', '--platform=node',
  '--format=esm', '--log-level=warning', `--outfile=${bare}`)
run('npm', 'run', 'prepack')
const first = [
  { ...bareFastify(), command: [process.execPath, bare] },
  started('bundle', bundle, 1),
  started('bundle', bundle, 2),
  started('source', source, 1),
  started('source', source, 2)
]
const cache = { NODE_COMPILE_CACHE: join(folder, 'cache') }
const cached = first.map(program => ({ ...program, env: { ...program.env, ...cache } }))
// Node writes the cache when a process ends.
for (const program of cached) await measure(program)
const samples: Record<'first' | 'cached', Sample[]> = { first: [], cached: [] }
await repeat(rounds, async () => {
  for (const program of cached) samples.cached.push(await measure(program))
  for (const program of first) samples.first.push(await measure(program))
})
print('with a compile cache', samples.cached)
print('without, as at a first start', samples.first)

function run (command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: project })
  if (status !== 0) process.exit(1)
}

function print (title: string, samples: Sample[]): void {
  printMedians(`From start to first 200 ${title}, ${rounds} rounds`, samples, ['ms', 'MiB'])
}

/** The service on SQLite. */
function started (kind: string, main: string, threads: number): Program {
  const program = service(`service, ${kind}, THREADS=${threads}`, { THREADS: String(threads) })
  return { ...program, command: [process.execPath, main] }
}

/** The milliseconds from the start of the process to its first 200, and its memory then. */
async function measure (program: Program): Promise<Sample> {
  const began = performance.now()
  const server = await startServer(program)
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const body = '{"id":1,"name":"Boston fern"}'
  const url = `http://127.0.0.1:${server.port}/plants`
  const { status } = await fetch(url, { method: 'POST', headers, body })
  const ms = performance.now() - began
  if (status !== 200) throw new Error(`${program.name} answered ${status}`)
  const MiB = residentMiB(server)
  await stopServer(server)
  return { name: program.name, figures: { ms, MiB } }
}
