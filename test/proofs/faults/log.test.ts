// A log that nobody takes: on a full disk, in a pipe without a reader or on a stopped terminal. The
// service answers, needs no more memory, loses no acknowledged plant, shuts down in time and counts
// the lines that it drops.
import { type ChildProcess, execFile, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync, truncateSync } from 'node:fs'
import { type AddressInfo, connect, createServer, Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { holdProcess } from '../../fixtures/leash.ts'
import { newAccount, sendPlants, settle, smallPlant } from '../../fixtures/load.ts'
import { inParallel } from '../../fixtures/parallel.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { withoutCoverage } from '../../fixtures/service.ts'

const test = inParallel(t, 2)

const run = promisify(execFile)

/**
 * Without the modules that tap loads into child processes: they write files, and end the process at
 * SIGXFSZ.
 */
const node = [...withoutCoverage, process.execPath]
const main = resolve('src/main.ts')
const longPath = `/${'x'.repeat(2000)}`
/**
 * What the service may need beyond its state before the log stopped, and for a shutdown. V8's young
 * generation alone may grow by 48 MiB; 50,000 lines, if nothing dropped them, take 110 MiB.
 */
const limits = { growth: 64 * 2 ** 20, startMs: 60_000, shutdownMs: 60_000 }

interface Running { child: ChildProcess, origin: string, ended: Promise<unknown>, url: string }

interface Start { folder?: string, command?: string[], env?: Record<string, string> }

/**
 * Starts the service with this standard output and standard error. Its log cannot say where it
 * listens.
 */
async function start (
  t: Test, stdio: StdioOptions, { folder = t.testdir(), command = [...node, main], env = {} }: Start = {}
): Promise<Running> {
  const url = `sqlite:${join(folder, 'plants.db')}`
  const [program = '', ...args] = command
  const ownVariables = { PORT: String(await freePort()), DATABASE_URL: url, ACCESS_TOKENS: testToken }
  const eachRefusal = { FAILED_AUTH_LIMIT: '1000000000' }
  const variables = { ...process.env, ...ownVariables, ...eachRefusal, ...env }
  const child = holdProcess(spawn(program, args, { cwd: folder, stdio, env: variables }))
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const origin = `http://127.0.0.1:${variables.PORT}`
  const answers = () => {
    return fetch(`${origin}/livez`, { signal: AbortSignal.timeout(10_000) }).then(({ ok }) => ok, () => false)
  }
  for (const began = performance.now(); child.exitCode === null && !await answers(); await sleep(20)) {
    if (performance.now() - began > limits.startMs) throw new Error('The service does not answer.')
  }
  return { child, origin, ended, url }
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/**
 * Sends requests that the service refuses; each writes a line to the log, because FAILED_AUTH_LIMIT
 * is high.
 */
async function provoke (
  t: Test,
  origin: string,
  lines: number,
  path = longPath
): Promise<void> {
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const connections = 8
  const sendFrom = async (connection: number) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1').setEncoding('latin1')
    // Another request follows each response, which ends with the body of an error.
    let received = ''
    let sent = connection
    const statuses = new Set<string>()
    socket.setTimeout(60_000, () => socket.destroy(new Error('No response within a minute.')))
    socket.on('connect', () => socket.write(request)).on('data', text => {
      received += text
      if (!received.endsWith('}')) return
      const status = received.slice(0, 12)
      received = ''
      // The machine is busy: the same request again.
      if (status !== 'HTTP/1.1 503') {
        statuses.add(status)
        sent += connections
      }
      if (sent < lines) socket.write(request)
      else socket.end()
    })
    await once(socket, 'close')
    return statuses
  }
  const all = await Promise.all(Array.from({ length: connections }, (_, nth) => sendFrom(nth)))
  const statuses = all.reduce((one, other) => one.union(other))
  t.strictSame([...statuses], ['HTTP/1.1 404'], `${lines} requests are answered`)
}

function memoryOf (pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

/**
 * Provokes lines and sends plants, ends the service, and checks its memory, its exit and its
 * plants.
 */
async function endure (
  t: Test,
  { child, origin, ended, url }: Running,
  { pid = child.pid as number, lines = 4000 } = {}
): Promise<void> {
  const account = newAccount()
  const load = sendPlants(origin, account, 2, smallPlant, 5)
  try {
    await provoke(t, origin, 1000)
    const before = memoryOf(pid)
    await provoke(t, origin, lines)
    const growth = memoryOf(pid) - before
    t.ok(growth < limits.growth, `memory grows by ${Math.round(growth / 2 ** 20)} MiB`)
  } finally {
    await load.stop()
  }
  // Plants that a busy machine refuses are sent again.
  t.strictSame([...account.statuses.keys()].filter(status => status !== 503), [200])
  const began = performance.now()
  process.kill(pid, 'SIGTERM')
  t.equal(await Promise.race([ended, sleep(limits.shutdownMs, 'still running', { ref: false })]), 0)
  t.comment(`shut down after ${Math.round(performance.now() - began)} ms`)
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
}

/**
 * Checks that every line is complete, and that the 404s among them and the dropped ones are all
 * there were.
 */
function account (t: Test, text: string, provoked: number): void {
  const lines = text.trim().split('\n').map(line => JSON.parse(line))
  const refused = lines.filter(({ status }) => status === 404).length
  const counts = lines.map(({ msg }) => Number(/^Log lines dropped .*: (\d+)\.$/.exec(msg)?.[1] ?? 0))
  const dropped = counts.reduce((sum, count) => sum + count, 0)
  t.ok(dropped > 0, `${dropped} lines were dropped`)
  t.equal(refused + dropped, provoked, 'every line is written or counted')
}

test('a disk that stays full', async t => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  await endure(t, await start(t, ['ignore', full, full]), { lines: 50_000 })
})

test('a first start on a full disk for its output does not end the process', async t => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const { child, origin, ended } = await start(t, ['ignore', full, full], { env: { ACCESS_TOKENS: '' } })
  t.equal((await fetch(`${origin}/livez`)).status, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

test('configuration errors exit with code 2 on a full disk', async t => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const { ended } = await start(t, ['ignore', full, full], { env: { LOG_LEVEL: 'x' } })
  t.equal(await ended, 2)
})

test('a disk that has space again: the log goes on without a torn line', async t => {
  // A limit for each file is a full disk. The log starts 1,000 bytes below it; the database stays
  // smaller.
  const limit = 8 * 2 ** 20
  const folder = t.testdir()
  const path = join(folder, 'log')
  const file = openSync(path, 'a')
  t.teardown(() => closeSync(file))
  truncateSync(path, limit - 1000)
  const command = ['prlimit', `--fsize=${limit}:unlimited`, ...node, main]
  const { child, origin, ended } = await start(t, ['ignore', file, 'inherit'], { folder, command })
  await provoke(t, origin, 3000)
  t.equal(readFileSync(path).length, limit, 'the file is full')
  await run('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:unlimited'])
  const text = () => readFileSync(path, 'utf8').slice(limit - 1000)
  const began = performance.now()
  while (!text().includes('dropped') && performance.now() - began < 60_000) await sleep(50)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  account(t, text(), 3000)
})

/** A real pipe: a child process that Node starts has a socket instead. */
async function makePipe (folder: string): Promise<{ readEnd: number, writeEnd: number }> {
  const path = join(folder, 'pipe')
  await run('mkfifo', [path])
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return { readEnd, writeEnd: openSync(path, 'w') }
}

test('a pipe whose reader stops', async t => {
  const folder = t.testdir()
  const { readEnd, writeEnd } = await makePipe(folder)
  const service = await start(t, ['ignore', writeEnd, 'inherit'], { folder })
  closeSync(writeEnd)
  await endure(t, service)
  closeSync(readEnd)
})

test('a pipe whose reader goes on later', async t => {
  const folder = t.testdir()
  const { readEnd, writeEnd } = await makePipe(folder)
  const { child, origin, ended } = await start(t, ['ignore', writeEnd, 'inherit'], { folder })
  closeSync(writeEnd)
  await provoke(t, origin, 3000)
  let text = ''
  const reader = new Socket({ fd: readEnd, readable: true, writable: false })
  reader.setEncoding('utf8').on('data', more => { text += more })
  const closed = once(reader, 'close')
  const began = performance.now()
  while (!text.includes('dropped') && performance.now() - began < 60_000) await sleep(50)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  await closed
  account(t, text, 3000)
})

test('a pipe whose reader goes away', async t => {
  const folder = t.testdir()
  const { readEnd, writeEnd } = await makePipe(folder)
  const service = await start(t, ['ignore', writeEnd, 'inherit'], { folder })
  closeSync(writeEnd)
  closeSync(readEnd)
  await endure(t, service)
})

test('a stopped terminal', async t => {
  // Nobody reads what script copies from the terminal, so the terminal stops too.
  const folder = t.testdir()
  const { readEnd, writeEnd } = await makePipe(folder)
  const service = await start(t, ['pipe', writeEnd, 'inherit'], {
    folder, command: ['script', '-qefc', `exec ${[...node, main].join(' ')}`, '/dev/null']
  })
  closeSync(writeEnd)
  const children = readFileSync(`/proc/${service.child.pid}/task/${service.child.pid}/children`, 'utf8')
  // script ends only when somebody reads, and with it the exit code: the test sees only that the
  // service has ended.
  const pid = Number(children)
  t.teardown(() => {
    if (stateOf(pid) !== '') process.kill(pid, 'SIGKILL')
  })
  const gone = (async () => {
    while (/^State:\s+[^Z]/m.test(stateOf(pid))) await sleep(20)
    return 0
  })()
  await endure(t, { ...service, ended: gone }, { pid })
  closeSync(readEnd)
})

function stateOf (pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}
