// Threads that fail, and credentials that change meanwhile.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { keyTimes } from '../../../src/auth/issuer-keys.ts'
import { openStore } from '../../../src/stores/open.ts'
import { audience, makeKey, startIssuer } from '../../fixtures/issuer.ts'
import { newAccount, sendPlants, settle, smallPlant } from '../../fixtures/load.ts'
import { inParallel } from '../../fixtures/parallel.ts'
import { addSecret, testToken } from '../../fixtures/secrets.ts'
import { observed, type Service, startService } from '../../fixtures/service.ts'
import { statuses, tally } from '../../fixtures/statuses.ts'

t.setTimeout(480_000)
const test = inParallel(t, 3)

const env = { ACCESS_TOKENS: testToken, THREADS: '3' }
const hasFailed = /A thread has failed, and another one starts: /
const isReplaced = /another one starts[^]*\d threads listen/
const all = { until: /\d threads listen/ }

/**
 * Arguments that let each thread run code first, in which `number` is 1 for the first thread that
 * serves HTTP.
 */
function runFirst (folder: string, code: string, name = 'first.mjs'): string[] {
  const path = join(folder, name)
  writeFileSync(path, `
    import { existsSync, writeFileSync } from 'node:fs'
    import { isMainThread, workerData } from 'node:worker_threads'
    function claimNumber (number) {
      try {
        writeFileSync('${path}-' + number, '', { flag: 'wx' })
        return number
      } catch {
        return claimNumber(number + 1)
      }
    }
    // The thread of SQLite has data.
    const number = isMainThread || workerData ? 0 : claimNumber(1)
    ${code}
  `)
  return ['--import', path]
}

/** The first `threads` fail once letFail() is called; `code` is for all. */
function faultyThread (folder: string, fault: string, threads = 1, code = ''): string[] {
  return runFirst(folder, `
    const file = '${join(folder, 'fail')}'
    const timer = setInterval(() => {
      if (!existsSync(file)) return
      clearInterval(timer)
      ${fault}
    }, 20).unref()
    if (number === 0 || number > ${threads}) clearInterval(timer)
    ${code}
  `)
}

function letFail (folder: string): void {
  writeFileSync(join(folder, 'fail'), '')
}

async function servesAndEnds (t: Test, { origin, child, ended }: Service): Promise<void> {
  t.strictSame(tally(await statuses(origin, 50)), { 200: 50 })
  child.kill('SIGTERM')
  t.equal(await ended, 0)
}

/** Holds a thread as an endless loop does, without the processor. */
const hang = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'
const aBug = "throw new Error('a bug')"

const faults = {
  'an uncaught error': aBug,
  'a rejection that nobody handles': "Promise.reject(new Error('a bug'))",
  'an error that is none': "throw { toString () { throw new Error('a bug') } }",
  'several errors': "setTimeout(() => { throw new Error('another bug') }, 50); throw new Error('a bug')"
}
function refusedByOverload (log: string): number {
  const reports = log.matchAll(/because of overload: (\d+)\./g)
  return reports.reduce((sum, [, count]) => sum + Number(count), 0)
}

for (const [name, fault] of Object.entries(faults)) {
  test(`a thread that fails is replaced, and no answer is lost: ${name}`, async t => {
    const folder = t.testdir()
    const url = `sqlite:${join(folder, 'plants.db')}`
    const { origin, child, ended, output, waitForOutput } = await startService(
      t, folder, { ...env, DATABASE_URL: url }, faultyThread(folder, fault), all
    )
    const account = newAccount()
    // With a pause, eight clients do not use up the processor for all other tests.
    const load = sendPlants(origin, account, 8, smallPlant, 10)
    await sleep(200)
    letFail(folder)
    await waitForOutput(isReplaced)
    // The failed one finishes its requests meanwhile.
    await sleep(1500)
    await load.stop()
    t.ok(account.acknowledged.size > 0)
    t.equal(output().includes('Further uncaught errors in this thread: 1.'), name === 'several errors')
    t.equal(account.unanswered, 0, 'no request is lost')
    child.kill('SIGTERM')
    t.equal(await ended, 0)
    const { 0: _none, 200: _stored, ...others } = Object.fromEntries(account.statuses)
    // On a machine that is busy with other work, requests wait for the processor.
    const refused = refusedByOverload(output())
    t.strictSame(others, refused === 0 ? {} : { 503: refused })
    const store = await openStore(url, { maxQueue: 1 })
    t.teardown(() => store.close())
    await settle(t, account, store)
  })
}

test('a token that is revoked is refused by every thread, also by one that starts later', async t => {
  const folder = t.testdir({ tokens: `${testToken}\n` })
  const file = join(folder, 'tokens')
  const { origin, child, ended, output, waitForOutput } = await startService(
    t, folder, { THREADS: '3', ACCESS_TOKENS_FILE: file, FAILED_AUTH_LIMIT: '1000' }, faultyThread(folder, aBug),
    { ...observed, ...all }
  )
  t.strictSame(tally(await statuses(origin, 50)), { 200: 50 })
  writeFileSync(file, '')
  await waitForOutput(/is empty: it makes no token valid any more/)
  t.strictSame(tally(await statuses(origin, 50)), { 401: 50 })
  t.equal(output().match(/is empty: it/g)?.length, 1, 'one line reports it')
  letFail(folder)
  await waitForOutput(isReplaced)
  t.strictSame(tally(await statuses(origin, 50)), { 401: 50 })
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

test('the threads share a token of the service and the keys of an issuer', async t => {
  const issuer = await startIssuer(t)
  const [first, second] = [await makeKey('first'), await makeKey('second')]
  issuer.publish(first)
  const folder = t.testdir()
  const own = await startService(t, folder, { THREADS: '4' }, [], all)
  const token = readFileSync(join(folder, 'data', 'access-token'), 'utf8').trim()
  addSecret(token)
  t.strictSame(tally(await statuses(own.origin, 50, token)), { 200: 50 })
  own.child.kill('SIGTERM')

  const { origin, child, ended } = await startService(t, folder, {
    THREADS: '4', JWT_ISSUER: issuer.issuer, JWT_AUDIENCE: audience
  }, [], { ...observed, ...all })
  t.equal(issuer.requests.length, 2, 'discovery and keys, once')
  t.strictSame(tally(await statuses(origin, 50, await issuer.sign(first))), { 200: 50 })
  issuer.publish(second)
  await sleep(keyTimes.cooldown)
  t.strictSame(tally(await statuses(origin, 50, await issuer.sign(second))), { 200: 50 })
  t.equal(issuer.requests.length, 4, 'once for all threads')
  t.strictSame(tally(await statuses(origin, 20, await issuer.sign(first))), { 401: 20 })
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

test('while a failed thread finishes, the service stays ready', async t => {
  const folder = t.testdir()
  const { origin, child, ended, waitForOutput } = await startService(
    t, folder, { ...env, SHUTDOWN_DELAY: '5' }, faultyThread(folder, aBug), all
  )
  const beginning = beginRequests(t, origin)
  letFail(folder)
  await waitForOutput(isReplaced)
  const sockets = beginning.stop()
  const complete = (some: Socket[]) => Promise.all(some.map(async socket => {
    socket.write('\r\n')
    return String(await once(socket, 'data'))
  }))
  const statusOf = (answer: string) => Number(answer.slice(9, 12))
  const answers = await complete(sockets.slice(0, 15))
  t.strictSame(tally(answers.map(statusOf)), { 200: 15 })
  const last = answers.filter(answer => /^connection: close/im.test(answer))
  t.ok(last.length > 0 && last.length < 15, `${last.length} connections were those of the failed thread`)
  child.kill('SIGTERM')
  await waitForOutput(/shutting down after SIGTERM/)
  const later = await complete(sockets.slice(15))
  t.ok(later.every(answer => [200, 503].includes(statusOf(answer))), 'the failed thread finishes nevertheless')
  t.equal(await ended, 0)
})

/**
 * Begins requests until stop() returns the 30 oldest of the last two seconds: the service waits
 * five seconds for the rest of a header.
 */
function beginRequests (t: Test, origin: string): { stop: () => Socket[] } {
  const young = new Set<Socket>()
  let isStopped = false
  const timer = setInterval(() => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1').setEncoding('utf8')
    socket.on('error', () => {}).write('GET /readyz HTTP/1.1\r\nHost: x\r\n')
    t.teardown(() => socket.destroy())
    young.add(socket)
    setTimeout(() => {
      if (isStopped) return
      young.delete(socket)
      socket.destroy()
    }, 2000)
  }, 40)
  t.teardown(() => clearInterval(timer))
  return {
    stop () {
      isStopped = true
      clearInterval(timer)
      return [...young].slice(0, 30)
    }
  }
}

test('while too many failed threads are finishing their requests, none is replaced', async t => {
  const folder = t.testdir()
  const code = `if (number > 0) setInterval(() => {
    if (existsSync('${join(folder, 'fail')}')) throw new Error('a bug')
  }, 2500)`
  const { origin, child, ended, waitForOutput } = await startService(
    t, folder, env, runFirst(folder, code), observed
  )
  letFail(folder)
  const port = Number(new URL(origin).port)
  const holding = setInterval(() => {
    const sockets = Array.from({ length: 10 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    for (const socket of sockets) {
      t.teardown(() => socket.destroy())
      socket.write('GET /livez HTTP/1.1\r\n')
    }
  }, 200)
  t.teardown(() => clearInterval(holding))
  await waitForOutput(/too many failed threads are still finishing their requests/)
  clearInterval(holding)
  t.equal((await fetch(`${origin}/livez`)).status, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

test('a replacement that fails is tried again, and the other threads go on', async t => {
  const folder = t.testdir()
  const args = faultyThread(folder, aBug, 1, "if (number === 4) throw new Error('no memory')")
  const service = await startService(t, folder, env, args, all)
  letFail(folder)
  await service.waitForOutput(/another one starts: Error: no memory/)
  t.strictSame(tally(await statuses(service.origin, 50)), { 200: 50 })
  await service.waitForOutput(isReplaced)
  await servesAndEnds(t, service)
})

test('a thread that fails while the service ends is not replaced', async t => {
  const folder = t.testdir()
  const { child, ended, output } = await startService(
    t, folder, { ...env, SHUTDOWN_DELAY: '1' }, faultyThread(folder, aBug), all
  )
  child.kill('SIGTERM')
  letFail(folder)
  t.equal(await ended, 0)
  t.notMatch(output(), hasFailed)
  t.match(output(), 'uncaught error in a thread')
})

test('a signal before a failed thread is replaced ends the service, and none is started', async t => {
  const folder = t.testdir()
  const { child, ended, output, waitForOutput } = await startService(
    t, folder, env, faultyThread(folder, 'process.exit()'), all
  )
  letFail(folder)
  await waitForOutput(hasFailed)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), /shutting down[^]*threads listen/)
})

test('a signal while the first thread begins to listen ends the service without an error', async t => {
  const folder = t.testdir()
  const slowLookup = runFirst(folder, `
    import dns from 'node:dns/promises'
    import { syncBuiltinESMExports } from 'node:module'
    const { lookup } = dns
    dns.lookup = (...args) => {
      console.error('looking up')
      return new Promise(resolve => setTimeout(() => resolve(lookup(...args)), 500))
    }
    syncBuiltinESMExports()
  `)
  const { child, ended, output } = await startService(t, folder, env, slowLookup, { until: /looking up/ })
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), 'it has ended')
})

test('while all threads fail and are replaced, no connection is refused, and no other service gets the port', async t => {
  const folder = t.testdir({ other: {} })
  const { origin, child, ended, output } = await startService(t, folder, env, faultyThread(folder, aBug, 3), all)
  const { port } = new URL(origin)
  letFail(folder)
  const other = startService(t, join(folder, 'other'), { ...env, PORT: port, DATABASE_URL: 'memory:' })
  let count = 0
  const isReplaced = () => /(another one starts[^]*){3}3 threads listen/.test(output())
  while (!isReplaced()) {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
    count++
    await sleep(5)
  }
  t.ok(count > 10, `${count} connections`)
  t.equal(await (await other).ended, 1)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

test('a service whose threads have all ended, and whose port another program has taken, ends', async t => {
  const folder = t.testdir()
  const { origin, ended, output, waitForOutput } = await startService(
    t, folder, env, faultyThread(folder, 'process.exit()', 3), all
  )
  const port = Number(new URL(origin).port)
  letFail(folder)
  await waitForOutput(/(another one starts[^]*){3}/)
  const thief = createServer().listen(port, '127.0.0.1')
  t.teardown(() => { thief.close() })
  await once(thief, 'listening')
  t.equal(await ended, 1)
  t.match(output(), 'shutting down after an uncaught error')
  t.match(output(), `Cannot listen on 127.0.0.1, port ${port}: listen EADDRINUSE`)
})

test('a thread that hangs is replaced, and does not delay the end', async t => {
  const folder = t.testdir()
  const service = await startService(
    t, folder, env, faultyThread(folder, hang), { ...observed, ...all }
  )
  letFail(folder)
  await service.waitForOutput(/another one starts: Error: it has not responded for 10 seconds/)
  await service.waitForOutput(isReplaced)
  await servesAndEnds(t, service)
})

test('a replacement that hangs while it starts is replaced, too', async t => {
  const folder = t.testdir()
  const args = faultyThread(folder, 'process.exit()', 1, `if (number === 4) ${hang}`)
  const service = await startService(t, folder, env, args, { ...observed, ...all })
  letFail(folder)
  await service.waitForOutput(/another one starts: Error: it has not started within 20 seconds/)
  await service.waitForOutput(isReplaced)
  await servesAndEnds(t, service)
})

const kills = {
  'kills itself': { command: ['env'], signal: 'SIGKILL' },
  'aborts as the first process of a container': {
    command: ['unshare', '-rpf', '--kill-child', '--mount-proc'], signal: 'SIGSEGV'
  }
}
for (const [name, { command, signal }] of Object.entries(kills)) {
  test(`a service with a thread that cannot be ended finishes the other requests and ${name}`, async t => {
    const [program, ...args] = [...command, 'true']
    if (spawnSync(String(program), args).status !== 0) return t.plan(0, 'the system makes no container')
    const folder = t.testdir()
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const fault = `
      const { openSync, readSync } = process.getBuiltinModule('node:fs')
      readSync(openSync('${pipe}', 'r+'), Buffer.alloc(1))
    `
    const url = `sqlite:${join(folder, 'plants.db')}`
    const { origin, ended, output } = await startService(
      t, folder, { ...env, DATABASE_URL: url }, faultyThread(folder, fault),
      { ...all, command: [...command, process.execPath] }
    )
    const account = newAccount()
    const load = sendPlants(origin, account, 16, smallPlant, 50)
    letFail(folder)
    t.equal(await ended, signal)
    t.match(output(), 'A call to the system holds a thread, which cannot be ended: the service ends.')
    await load.stop()
    const store = await openStore(url, { maxQueue: 1 })
    t.teardown(() => store.close())
    await settle(t, account, store)
  })
}

test('a service whose threads have all ended, and cannot listen again, ends', async t => {
  const folder = t.testdir()
  const fault = faultyThread(folder, 'process.exit()', 3)
  const cannotListen = runFirst(folder, `
    const { Server } = process.getBuiltinModule('node:net')
    if (number > 3) Server.prototype.listen = () => { throw new Error('no address') }
  `, 'second.mjs')
  const { ended, output } = await startService(
    t, folder, env, [...fault, ...cannotListen], { ...observed, ...all }
  )
  letFail(folder)
  t.equal(await ended, 1)
  t.match(output(), 'no address')
})

test('a thread that runs out of memory is replaced, and the others go on', async t => {
  const folder = t.testdir()
  // Few large arrays: many objects would keep the garbage collector of a busy machine for so long
  // that the thread counts as hung.
  const fault = 'const all = []; for (;;) all.push(new Array(1e6).fill(0.5))'
  const { origin, child, ended, waitForOutput } = await startService(
    t, folder, env, ['--max-old-space-size=100', ...faultyThread(folder, fault)], all
  )
  letFail(folder)
  await waitForOutput(/another one starts: .*memory/)
  await waitForOutput(isReplaced)
  t.strictSame(tally(await statuses(origin, 50)), { 200: 50 })
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

test('SIGTERM ends all threads without a lost answer', async t => {
  const folder = t.testdir()
  const url = `sqlite:${join(folder, 'plants.db')}`
  const account = newAccount()
  for (let round = 0; round < 5; round++) {
    const { origin, child, ended } = await startService(t, folder, { ...env, DATABASE_URL: url }, [], all)
    const load = sendPlants(origin, account, 16)
    await sleep(300)
    child.kill('SIGTERM')
    t.equal(await ended, 0)
    await load.stop()
    t.equal(account.unanswered, 0, 'no request is lost')
  }
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})
