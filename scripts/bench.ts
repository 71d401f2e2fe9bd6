// npm run bench: the service and a bare Fastify route, each on the same core, loaded in turns from another; with
// --unpinned servers and load share the cores as the system likes, and SQLite's thread has one to itself now and then.
// Prints throughput, p99 and CPU time per request, each as the median of the rounds and as a ratio to bare Fastify.
// Every round starts its servers anew: how V8 compiles and collects differs from one process to the next.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import fastify from 'fastify'
import { keepTicksFast } from '../src/ticks.ts'
import { readOptions, toNumbers } from './options.ts'
import { median, p99, ratio } from './statistics.ts'

const { unpinned, bare, ...texts } = readOptions({
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '3' },
  connections: { type: 'string', default: '64,256' },
  unpinned: { type: 'boolean', default: false },
  /** Be the bare route: used by this script for its own child. */
  bare: { type: 'boolean', default: false }
})
const [rounds] = toNumbers('rounds', texts.rounds)
const [seconds] = toNumbers('seconds', texts.seconds)
const crowds = new Set(toNumbers('connections', texts.connections))

// Where there is no taskset, nothing is pinned, and the figures say less.
const pinned = !bare && !unpinned && spawnSync('taskset', ['-acp', '1', String(process.pid)]).status === 0
const bareName = 'bare Fastify'
const children = new Set<ChildProcess>()
// However it ends, no server is left behind.
process.on('exit', () => children.forEach(child => child.kill('SIGKILL')))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

if (bare) await serveBare()
else await compare()

/** No schema, no authentication, no storage: what Fastify costs by itself, at its best. */
async function serveBare (): Promise<void> {
  keepTicksFast()
  const app = fastify()
  app.post<{ Body: { name: string, tag?: string } }>('/plants', async ({ body: { name, tag } }) => ({ name, tag }))
  console.log(`listening at ${await app.listen()}`)
}

/** What is started, where, and all that it is told: not what the environment here says. */
interface Program { name: string, args: string[], folder: string, env: Record<string, string> }

/** Requests a second, milliseconds, and microseconds of processor time a request. */
interface Figures { throughput: number, p99: number, cpu: number }
interface Result extends Figures { name: string, connections: number }

async function compare (): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true }))
  const service = [fileURLToPath(new URL('../src/main.ts', import.meta.url))]
  const env = { PORT: '0', ACCESS_TOKENS: 'secret', LOG_LEVEL: 'info' }
  const all: Result[] = []
  for (let round = 1; round <= rounds; round++) {
    const programs: Program[] = [
      { name: bareName, args: [fileURLToPath(import.meta.url), '--bare'], folder, env: {} },
      { name: 'service, memory:', args: service, folder, env: { ...env, DATABASE_URL: 'memory:' } },
      { name: 'service, SQLite', args: service, folder, env: { ...env, DATABASE_URL: `sqlite:${round}.db` } }
    ]
    for (const program of programs) all.push(...await measure(program))
    console.error(`round ${round} of ${rounds}`)
  }
  for (const [count, results] of Map.groupBy(all, ({ connections }) => connections)) print(count, results)
}

/** Starts a program and loads it from each number of connections. */
async function measure (program: Program): Promise<Result[]> {
  const server = await start(program)
  // Warms up, and is not counted.
  await load(server, { connections: 64, seconds: 1, firstId: 0 })
  const results = []
  for (const count of crowds) {
    results.push({ name: program.name, connections: count, ...await load(server, { connections: count, seconds, firstId: count * 1e9 }) })
  }
  server.child.kill()
  await once(server.child, 'exit')
  children.delete(server.child)
  return results
}

interface ServerUnderTest { child: ChildProcess, port: number }

/** Starts a server on the first core and waits until it says where it listens. */
async function start ({ args, folder, env }: Program): Promise<ServerUnderTest> {
  const [command, ...rest] = pinned ? ['taskset', '-c', '0', process.execPath, ...args] : [process.execPath, ...args]
  const child = spawn(command as string, rest, { cwd: folder, env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  for await (const line of createInterface(child.stdout)) {
    const port = /listening at http:\/\/[^"]*:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return { child, port: Number(port) }
  }
  throw new Error(`${args.join(' ')} did not start`)
}

/** Keeps every connection busy with one request after the other, each with an id of its own. */
async function load ({ child, port }: ServerUnderTest, { connections, seconds, firstId }: { connections: number, seconds: number, firstId: number }): Promise<Figures> {
  const latencies: number[] = []
  let id = firstId
  let stopped = false
  const failed = Promise.withResolvers<never>()
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  const cpuBefore = cpuSeconds(child)
  const began = performance.now()
  for (const socket of sockets) {
    let sent = 0
    const send = () => {
      const body = `{"id":${++id},"name":"Boston fern","tag":"fern"}`
      sent = performance.now()
      socket.write(`POST /plants HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    }
    socket.on('data', answer => {
      // An answer is a few hundred bytes and comes in one piece; should it not, the run is worth nothing.
      if (!answer.toString('latin1').match(/^HTTP\/1.1 200 .*"tag":"fern"}$/s)) failed.reject(new Error(`unexpected answer: ${answer}`))
      latencies.push(performance.now() - sent)
      if (!stopped) send()
    })
    socket.on('error', failed.reject)
    socket.on('end', () => failed.reject(new Error('the server ended a connection')))
    send()
  }
  await Promise.race([sleep(seconds * 1000), failed.promise])
  stopped = true
  const elapsed = (performance.now() - began) / 1000
  const count = latencies.length
  const cpu = (cpuSeconds(child) - cpuBefore) / count * 1e6
  for (const socket of sockets) socket.destroy()
  return { throughput: count / elapsed, p99: p99(latencies), cpu }
}

async function open (port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  await once(socket, 'connect')
  return socket
}

/** Time on the processor, all threads and the kernel's work for them; where there is no /proc, nobody knows. */
function cpuSeconds ({ pid }: ChildProcess): number {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13) ?? []
    return (Number(user) + Number(system)) / 100
  } catch {
    return NaN
  }
}

function print (count: number, results: Result[]): void {
  const servers = Map.groupBy(results, ({ name }) => name)
  const typical = (name: string, figure: keyof Figures) => median((servers.get(name) ?? []).map(figures => figures[figure]))
  const ofBare = (name: string, figure: keyof Figures) => ratio(typical(name, figure), typical(bareName, figure))
  console.log(`medians of ${rounds} rounds of ${seconds} s, ${count} connections, Node ${process.version}${pinned ? ', one core for each server with all its threads' : ', not pinned to cores'}`)
  console.table(Object.fromEntries(Array.from(servers.keys(), name => [name, {
    'requests/s': Math.round(typical(name, 'throughput')),
    'of bare': ofBare(name, 'throughput'),
    'p99 ms': typical(name, 'p99').toFixed(1),
    'p99 x bare': ofBare(name, 'p99'),
    'CPU us/request': typical(name, 'cpu').toFixed(1),
    'CPU x bare': ofBare(name, 'cpu')
  }])))
}
