import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import net, { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { openStore } from '../src/stores/open.ts'
import { countThreads } from '../src/threads.ts'
import { newAccount, sendPlants, settle } from './fixtures/load.ts'
import { testToken } from './fixtures/secrets.ts'
import { postPlant, startService } from './fixtures/service.ts'
import { startPostgres } from './fixtures/postgres.ts'

const env = { ACCESS_TOKENS: testToken, THREADS: '3' }

/** The statuses of `count` requests, each on its own connection. */
async function statuses (origin: string, count: number, token = testToken): Promise<number[]> {
  const agent = new Agent({ maxSockets: 50 })
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const one = async (id: number) => {
    const sent = request(`${origin}/plants`, { method: 'POST', headers, agent })
    sent.end(`{"id":${id},"name":"x"}`)
    const [response] = await once(sent, 'response')
    response.resume()
    await once(response, 'end')
    return response.statusCode
  }
  return Promise.all(Array.from({ length: count }, (_, id) => one(id)))
}

function tally (list: number[]): Record<number, number> {
  return Object.fromEntries(Array.from(new Set(list), value => [value, list.filter(each => each === value).length]))
}

for (const url of ['sqlite:plants.db', 'memory:', 'postgres']) {
  t.test(`all threads use one store: ${url}`, async t => {
    const database = url === 'postgres' ? await (await startPostgres(t)).database() : url
    const { origin, child, ended } = await startService(t, t.testdir(), { ...env, DATABASE_URL: database })
    const results = await Promise.all([statuses(origin, 100), statuses(origin, 100)])
    t.strictSame(tally(results.flat()), { 200: 200 })
    const others = Array.from({ length: 20 }, (_, id) => postPlant(origin, testToken, `{"id":${id},"name":"other"}`))
    t.strictSame(tally((await Promise.all(others)).map(({ status }) => status)), { 409: 20 })
    t.equal((await fetch(`${origin}/readyz`)).status, 200)
    child.kill('SIGTERM')
    t.equal(await ended, 0)
  })
}

t.test('the threads count requests, failures and connections together', async t => {
  const { origin, child, output } = await startService(t, t.testdir(), {
    ...env, RATE_LIMIT: '150', FAILED_AUTH_LIMIT: '40', MAX_CONNECTIONS: '60', DATABASE_URL: 'memory:'
  })
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
  // Each thread compares the counts before it adds to its own.
  t.ok(open >= 58 && open <= 62, `${open} connections`)
  t.match(output(), 'Connections refused: 1. ')
  child.kill('SIGKILL')
})

function isOpen (socket: Socket): boolean {
  return socket.readyState === 'open'
}

t.test('a token that is revoked is refused by every thread', async t => {
  const folder = t.testdir({ tokens: `${testToken}\n` })
  const file = join(folder, 'tokens')
  const { origin, child, ended, output, waitForOutput } = await startService(t, folder, {
    THREADS: '3', ACCESS_TOKENS_FILE: file
  })
  t.strictSame(tally(await statuses(origin, 50)), { 200: 50 })
  writeFileSync(file, '')
  await waitForOutput(/is empty: none of its tokens is valid any more/)
  await sleep(600)
  t.strictSame(tally(await statuses(origin, 50)), { 401: 50 })
  t.equal(output().match(/is empty: none/g)?.length, 1, 'one thread reports it')
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

/** Arguments that let every thread run a module first. */
function importFirst (t: Test, code: string): string[] {
  const path = join(mkdtempSync(join(t.testdir(), 'module-')), 'first.mjs')
  writeFileSync(path, code)
  return ['--import', path]
}

/** A module that lets a thread fail while the service runs. */
function faultyModule (t: Test, fault: string): string[] {
  return importFirst(t, `
    import { workerData } from 'node:worker_threads'
    if (workerData?.thread === 0) setTimeout(() => { ${fault} }, 2500)
  `)
}

const faults = {
  'an uncaught error': "throw new Error('a bug')",
  'a rejection that nobody handles': "Promise.reject(new Error('a bug'))",
  'an error that is none': "throw { toString () { throw new Error('a bug') } }"
}
for (const [name, fault] of Object.entries(faults)) {
  t.test(`a thread that fails is replaced, and no answer is lost: ${name}`, async t => {
    const folder = t.testdir()
    const url = `sqlite:${join(folder, 'plants.db')}`
    const { origin, child, ended, waitForOutput } = await startService(
      t, folder, { ...env, DATABASE_URL: url }, faultyModule(t, fault)
    )
    const account = newAccount()
    const load = sendPlants(origin, account, 16)
    await waitForOutput(/A thread has failed, and another one replaces it/)
    await sleep(1500)
    await load.stop()
    t.ok(account.acknowledged.size > 0)
    t.strictSame([...account.statuses.keys()], [200])
    child.kill('SIGTERM')
    t.equal(await ended, 0)
    const store = await openStore(url, { maxQueue: 1 })
    t.teardown(() => store.close())
    await settle(t, account, store)
  })
}

t.test('a thread that fails while the service ends is not replaced', async t => {
  const { child, ended, output } = await startService(
    t, t.testdir(), { ...env, SHUTDOWN_DELAY: '3' }, faultyModule(t, "throw new Error('a bug')")
  )
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), 'another one replaces it')
})

t.test('threads for which there is little memory serve, too', async t => {
  const { origin, child, ended } = await startService(t, t.testdir(), env, importFirst(t, `
    import os from 'node:os'
    import { syncBuiltinESMExports } from 'node:module'
    os.totalmem = () => 2 ** 29
    syncBuiltinESMExports()
  `))
  t.strictSame(tally(await statuses(origin, 50)), { 200: 50 })
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('a thread that runs out of memory is replaced, and the others go on', async t => {
  const fault = 'const all = []; for (;;) all.push(Array.from({ length: 1e5 }, (_, n) => ({ n })))'
  const { origin, child, ended, waitForOutput } = await startService(
    t, t.testdir(), env, ['--max-old-space-size=100', ...faultyModule(t, fault)]
  )
  await waitForOutput(/A thread has failed, and another one replaces it: .*memory/)
  await sleep(1000)
  t.strictSame(tally(await statuses(origin, 50)), { 200: 50 })
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('each core has a thread if the memory allows it, and there is one where ports cannot be shared', async t => {
  const none = () => { throw new Error('no warning is expected') }
  const count = async (cores: number, gibibytes: number) => {
    const { countThreads } = await t.mockImport<typeof import('../src/threads.ts')>('../src/threads.ts', {
      'node:os': { availableParallelism: () => cores, totalmem: () => gibibytes * 2 ** 30 }
    })
    return countThreads(undefined, none)
  }
  const counts = await Promise.all([count(1, 64), count(2, 64), count(64, 64), count(4, 1), count(4, 0.25)])
  t.strictSame(counts, [1, 2, 4, 2, 1])
  t.equal(await countThreads(7, none), 7)
  const elsewhere = await t.mockImport<typeof import('../src/threads.ts')>('../src/threads.ts', {
    'node:net': { ...net, createServer: () => ({ listen: () => { throw new Error('ENOTSUP') } }) }
  })
  const warnings: string[] = []
  t.equal(await elsewhere.countThreads(2, sentence => warnings.push(sentence)), 1)
  t.strictSame(warnings, ['The service runs in one thread instead of 2: they cannot share a port (ENOTSUP).'])
})

t.test('a port that another service uses is refused, with threads and without', async t => {
  const first = await startService(t, t.testdir(), { ...env, DATABASE_URL: 'memory:' })
  const { port } = new URL(first.origin)
  for (const THREADS of ['1', '3']) {
    const second = await startService(t, t.testdir(), { ...env, THREADS, PORT: port, DATABASE_URL: 'memory:' })
    t.equal(await second.ended, 1)
    t.match(second.output(), `Cannot listen on 127.0.0.1, port ${port}: listen EADDRINUSE`)
  }
  first.child.kill('SIGTERM')
  await first.ended
  const third = await startService(t, t.testdir(), { ...env, PORT: port, DATABASE_URL: 'memory:' })
  t.equal(new URL(third.origin).port, port)
  third.child.kill('SIGTERM')
  t.equal(await third.ended, 0)
})

t.test('a start that fails in the threads or in the store prints one sentence', async t => {
  const elsewhere = { HOST: '192.0.2.1' }
  const failing = [{ DATABASE_URL: 'sqlite:/proc/none/plants.db' }, elsewhere, { ...elsewhere, PORT: '3' }]
  for (const more of failing) {
    const { output, ended } = await startService(t, t.testdir(), { ...env, LOG_LEVEL: 'fatal', ...more })
    t.equal(await ended, 1)
    t.match(output(), /^(The database|Cannot listen on) [^\n]+\n$/)
  }
})

t.test('SIGTERM ends all threads without a lost answer', async t => {
  const folder = t.testdir()
  const url = `sqlite:${join(folder, 'plants.db')}`
  const account = newAccount()
  for (let round = 0; round < 5; round++) {
    const { origin, child, ended } = await startService(t, folder, { ...env, DATABASE_URL: url })
    const load = sendPlants(origin, account, 16)
    await sleep(300)
    child.kill('SIGTERM')
    t.equal(await ended, 0)
    await load.stop()
  }
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})
