import { once } from 'node:events'
import net, {
  type AddressInfo, connect, createServer, type ListenOptions, Server, type Socket
} from 'node:net'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import v8 from 'node:v8'
import t from 'tap'
import { CannotListen, claimPort } from '../../../src/contract/server/port-claim.ts'
import { countThreads } from '../../../src/service/threads/thread-count.ts'
import { replaceExports } from '../../fixtures/builtins.ts'
import { startPostgres } from '../../fixtures/postgres.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { observed, postPlant, startService } from '../../fixtures/service.ts'
import { statuses, tally } from '../../fixtures/statuses.ts'

t.setTimeout(240_000)

const env = { ACCESS_TOKENS: testToken, THREADS: '3' }
const all = { until: /3 threads listen/ }

for (const url of ['sqlite:plants.db', 'memory:', 'postgres']) {
  t.test(`all threads use one store: ${url}`, async t => {
    const folder = t.testdir()
    const database = url === 'postgres' ? await (await startPostgres(t)).database() : url
    const variables = { ...env, DATABASE_URL: database }
    const { origin, child, ended } = await startService(t, folder, variables, [], { ...observed, ...all })
    const results = await Promise.all([statuses(origin, 100), statuses(origin, 100)])
    t.strictSame(tally(results.flat()), { 200: 200 })
    const others = Array.from(
      { length: 20 }, (_, id) => postPlant(origin, testToken, `{"id":${id},"name":"other"}`)
    )
    t.strictSame(tally((await Promise.all(others)).map(({ status }) => status)), { 409: 20 })
    t.equal((await fetch(`${origin}/readyz`)).status, 200)
    child.kill('SIGTERM')
    t.equal(await ended, 0)
  })
}

t.test('the threads count requests, failures and connections together', async t => {
  const folder = t.testdir()
  const { origin, child, output } = await startService(t, folder, {
    ...env,
    RATE_LIMIT: '150',
    FAILED_AUTH_LIMIT: '40',
    MAX_CONNECTIONS: '60',
    DATABASE_URL: 'memory:'
  }, [], all)
  t.strictSame(tally(await statuses(origin, 400)), { 200: 150, 429: 250 })
  t.strictSame(tally(await statuses(origin, 100, 'wrong')), { 401: 40, 429: 60 })
  const port = Number(new URL(origin).port)
  const sockets = await Promise.all(Array.from({ length: 100 }, async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }))
  await sleep(500)
  const open = sockets.filter(isOpen).length
  // Two threads that claim the last place at the same moment both give it back.
  t.ok(open >= 58 && open <= 60, `${open} connections`)
  t.match(output(), 'Connections refused: 1. ')
  child.kill('SIGKILL')
})

function isOpen (socket: Socket): boolean {
  return socket.readyState === 'open'
}

t.test('each core has a thread if memory allows it; there is one without shared ports', async t => {
  const warnings: string[] = []
  type Platform = ReturnType<typeof os.platform>
  const count = (cores: number, gibibytes: number, wanted?: number, system: Platform = 'linux') => {
    replaceExports(t, os, {
      availableParallelism: () => cores,
      totalmem: () => gibibytes * 2 ** 30,
      platform: () => system
    })
    return countThreads(wanted, sentence => warnings.push(sentence))
  }
  const counts = [count(1, 64), count(2, 64), count(64, 64), count(4, 1), count(4, 0.25)]
  t.strictSame(counts, [1, 2, 4, 2, 1])
  t.equal(count(2, 64, 7), 7)
  t.intercept(v8, 'getHeapStatistics', { value: () => ({ heap_size_limit: 2 ** 28 }) })
  t.equal(count(8, 64), 1, 'a small heap')
  t.equal(count(8, 64, 2), 2)
  t.equal(count(8, 64, undefined, 'darwin'), 1)
  t.equal(count(8, 64, 1, 'darwin'), 1)
  t.equal(count(2, 64, 8), 8)
  t.strictSame(warnings, [])
  t.equal(count(8, 64, 2, 'darwin'), 1)
  t.equal(count(2, 64, 9), 9)
  const wayOut = 'Unset it for one thread for each core, up to 4.'
  t.strictSame(warnings, [
    'THREADS is 2, but there is one thread: several need Linux to share a port.',
    `THREADS is 9, but the service may use only 2 cores at a time. ${wayOut}`
  ])
})

t.test('startup fails when another service uses the port, with threads and without', async t => {
  const folder = t.testdir()
  const first = await startService(t, folder, { ...env, DATABASE_URL: 'memory:' })
  const { port } = new URL(first.origin)
  for (const THREADS of ['1', '3']) {
    const second = await startService(
      t, folder, { ...env, THREADS, PORT: port, DATABASE_URL: 'memory:' }
    )
    t.equal(await second.ended, 1)
    t.match(second.output(), `Cannot listen on 127.0.0.1, port ${port}: listen EADDRINUSE`)
    t.match(second.output(), 'Set HOST and PORT to listen elsewhere.')
  }
  first.child.kill('SIGTERM')
  await first.ended
  const third = await startService(t, folder, { ...env, PORT: port, DATABASE_URL: 'memory:' })
  t.equal(new URL(third.origin).port, port)
  third.child.kill('SIGTERM')
  t.equal(await third.ended, 0)
})

t.test('of services that start at once at a port, one gets it', async t => {
  const { port } = await freePort()
  const folder = t.testdir()
  const services = await Promise.all([1, 2, 3, 4].map(() => {
    return startService(t, folder, { ...env, PORT: String(port), DATABASE_URL: 'memory:' })
  }))
  t.equal(services.filter(({ origin }) => origin !== '').length, 1)
  for (const { origin, child, ended, output } of services) {
    if (origin !== '') child.kill('SIGTERM')
    else t.match(output(), `Cannot listen on 127.0.0.1, port ${port}: listen EADDRINUSE`)
    t.equal(await ended, origin === '' ? 1 : 0)
  }
})

t.test('a start without its lock is warned of', async t => {
  const { port } = await freePort()
  const host = '127.0.0.1'
  const warnings: string[] = []
  const warn = (sentence: string) => { warnings.push(sentence) }
  const release = await claimPort(host, port, warn)
  const waiting = claimPort(host, port, warn)
  await sleep(200)
  t.strictSame(warnings, [])
  release()
  const releaseSecond = await waiting
  t.strictSame(warnings, [], 'a lock that is released in time')
  await claimPort(host, port, warn)
  const sentence = `Two services that start at the same moment might share port ${port}: `
  t.strictSame(
    warnings, [`${sentence}another service has been starting at this port for 5 seconds.`]
  )
  releaseSecond()

  replaceExports(t, net, { createServer: forbidUnixSockets })
  const releaseNothing = await claimPort(host, port, warn)
  releaseNothing()
  const problem = 'this process may not create Unix sockets (listen EAFNOSUPPORT).'
  t.strictSame(warnings.slice(1), [sentence + problem])
})

t.test('a port that is in use is refused in words that suit any service', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  t.teardown(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const message = new RegExp(`^Cannot listen on 127\\.0\\.0\\.1, port ${port}: .* Choose another address or port\\.$`)
  await t.rejects(claimPort('127.0.0.1', port, () => {}), { message })
})

t.test('a process without free file descriptors is not sent to another port', async t => {
  const error = Object.assign(new Error('listen EMFILE'), { code: 'EMFILE' })
  const { message } = new CannotListen('127.0.0.1', 80, error, 'Choose another address or port.')
  t.equal(message, 'Cannot listen on 127.0.0.1, port 80: listen EMFILE. Let the process open more files (ulimit -n).')
})

async function freePort (): Promise<AddressInfo> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return address
}

/** A server like those of a process that may not create Unix sockets. */
function forbidUnixSockets (): Server {
  const server = new Server()
  const { listen } = server
  return Object.assign(server, {
    listen (options: ListenOptions) {
      if (options.path === undefined) return listen.call(server, options)
      throw Object.assign(new Error('listen EAFNOSUPPORT'), { code: 'EAFNOSUPPORT' })
    }
  })
}

t.test('a process that cannot start threads says so in one sentence', async t => {
  const code = `
    import threads from 'node:worker_threads'
    import { syncBuiltinESMExports } from 'node:module'
    threads.Worker = class { constructor () { throw new Error('no more threads') } }
    syncBuiltinESMExports()
  `
  const first = ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
  const variables = { ...env, DATABASE_URL: 'memory:' }
  const { output, ended } = await startService(t, t.testdir(), variables, first, observed)
  t.equal(await ended, 1)
  const problem = 'The process cannot start a thread: no more threads'
  t.equal(output(), `${problem}; raise its limit (ulimit -u, TasksMax, pids.max).\n`)
})

t.test('with THREADS=1 in .env there is one thread', async t => {
  const folder = t.testdir({ '.env': 'THREADS=1\n' })
  // An empty variable counts as not set: the first thread begins to load its modules.
  const variables = { ...env, THREADS: '', DATABASE_URL: 'memory:' }
  const { origin, child, ended, output } = await startService(t, folder, variables, [], observed)
  t.strictSame(tally(await statuses(origin, 20)), { 200: 20 })
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), 'threads listen')
})

t.test('a start that fails because of a signal does not report it', async t => {
  const { port } = await freePort()
  const code = `
    import dns from 'node:dns/promises'
    import { syncBuiltinESMExports } from 'node:module'
    dns.lookup = () => new Promise((resolve, reject) => {
      process.once('SIGTERM', () => setImmediate(() => reject(new Error('no answer'))))
      console.error('looking up')
    })
    syncBuiltinESMExports()
  `
  const first = ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
  const variables = { ...env, PORT: String(port), DATABASE_URL: 'memory:' }
  const { child, ended, output } = await startService(
    t, t.testdir(), variables, first, { ...observed, until: /looking up/ }
  )
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), 'no answer')
})

t.test('a start that fails in the threads or in the store prints one sentence', async t => {
  const folder = t.testdir()
  const elsewhere = { HOST: '192.0.2.1' }
  const failing = [
    { DATABASE_URL: 'sqlite:/proc/none/plants.db' }, elsewhere, { ...elsewhere, PORT: '3' }
  ]
  for (const more of failing) {
    const { output, ended } = await startService(t, folder, { ...env, LOG_LEVEL: 'fatal', ...more })
    t.equal(await ended, 1)
    t.match(output(), /^(The database|Cannot listen on) [^\n]+\n$/)
  }
})
