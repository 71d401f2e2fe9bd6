// npm run bench: the service and a bare Fastify route, each on the same core, loaded in turns from another.
// Prints throughput, p99 and CPU time per request, each as the median of the rounds and as a ratio to bare Fastify.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import fastify from 'fastify'

const connections = 64
const { values: { rounds, seconds, bare } } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    /** Be the bare route: used by this script for its own child. */
    bare: { type: 'boolean', default: false }
  }
})

// Where there is no taskset, servers and load share the cores as the system likes, and the figures say less.
const canPin = !bare && spawnSync('taskset', ['-acp', '1', String(process.pid)]).status === 0

if (bare) await serveBare()
else await compare()

/** No schema, no authentication, no storage: what Fastify costs by itself. */
async function serveBare (): Promise<void> {
  const app = fastify()
  app.post<{ Body: { name: string, tag?: string } }>('/plants', async ({ body: { name, tag } }) => ({ name, tag }))
  console.log(`listening at ${await app.listen()}`)
}

interface Figures { throughput: number, p99: number, cpu: number }

async function compare (): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-bench-'))
  const service = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const env = { PORT: '0', ACCESS_TOKENS: 'secret', LOG_LEVEL: 'info' }
  const servers = {
    'bare Fastify': await start([fileURLToPath(import.meta.url), '--bare'], {}),
    'service, memory:': await start([service], { ...env, DATABASE_URL: 'memory:' }),
    'service, SQLite': await start([service], { ...env, DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` })
  }
  try {
    const all = new Map<string, Figures[]>()
    for (const name of Object.keys(servers)) all.set(name, [])
    // One round more than is counted: the first warms up.
    for (let round = 0; round <= Number(rounds); round++) {
      for (const [name, server] of Object.entries(servers)) {
        const figures = await load(server, round * 1e9)
        if (round > 0) all.get(name)?.push(figures)
        console.error(`round ${round}, ${name}: ${Math.round(figures.throughput)}/s`)
      }
    }
    print(all)
  } finally {
    for (const { child } of Object.values(servers)) child.kill()
    await rm(folder, { recursive: true })
  }
}

interface ServerUnderTest { child: ChildProcess, port: number }

/** Starts a server on the first core and waits until it says where it listens. */
async function start (args: string[], env: Record<string, string>): Promise<ServerUnderTest> {
  const [command, ...rest] = canPin ? ['taskset', '-c', '0', process.execPath, ...args] : [process.execPath, ...args]
  const child = spawn(command as string, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface(child.stdout)) {
    const port = /listening at http:\/\/[^"]*:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return { child, port: Number(port) }
  }
  throw new Error(`${args.join(' ')} did not start`)
}

/** Keeps every connection busy with one request after the other, each with an id of its own. */
async function load ({ child, port }: ServerUnderTest, firstId: number): Promise<Figures> {
  const latencies: number[] = []
  let id = firstId
  let stopped = false
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
      if (!answer.toString('latin1').match(/^HTTP\/1.1 200 .*"tag":"fern"}$/s)) throw new Error(`unexpected answer: ${answer}`)
      latencies.push(performance.now() - sent)
      if (!stopped) send()
    })
    send()
  }
  await new Promise(resolve => setTimeout(resolve, Number(seconds) * 1000))
  stopped = true
  const elapsed = (performance.now() - began) / 1000
  const count = latencies.length
  const cpu = (cpuSeconds(child) - cpuBefore) / count * 1e6
  for (const socket of sockets) socket.destroy()
  return { throughput: count / elapsed, p99: latencies.sort((a, b) => a - b)[Math.floor(count * 0.99)] as number, cpu }
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

function print (all: Map<string, Figures[]>): void {
  const median = (name: string, figure: keyof Figures) => {
    const values = (all.get(name) ?? []).map(figures => figures[figure]).sort((a, b) => a - b)
    return values[values.length >> 1] as number
  }
  console.log(`medians of ${rounds} rounds of ${seconds} s, ${connections} connections, Node ${process.version}${canPin ? ', one core for each server with all its threads' : ', not pinned to cores'}`)
  console.table(Object.fromEntries(Array.from(all.keys(), name => [name, {
    'requests/s': Math.round(median(name, 'throughput')),
    'of bare': (median(name, 'throughput') / median('bare Fastify', 'throughput')).toFixed(2),
    'p99 ms': median(name, 'p99').toFixed(1),
    'p99 x bare': (median(name, 'p99') / median('bare Fastify', 'p99')).toFixed(2),
    'CPU us/request': median(name, 'cpu').toFixed(1),
    'CPU x bare': (median(name, 'cpu') / median('bare Fastify', 'cpu')).toFixed(2)
  }])))
}
