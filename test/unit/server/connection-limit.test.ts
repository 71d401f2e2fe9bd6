import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import v8 from 'node:v8'
import t from 'tap'
import type { Test } from 'tap'
import { connectionLimit } from '../../../src/server/connection-limit.ts'
import { requestText } from '../../fixtures/raw.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService } from '../../fixtures/service.ts'

/** Sets the limit of open files that the process sees, and a heap limit in MiB. */
function setLimits (t: Test, openFiles: number | 'unlimited', heapMiB: number): void {
  t.intercept(process.report, 'getReport', {
    value: () => ({ userLimits: { open_files: { soft: openFiles } } })
  })
  t.intercept(v8, 'getHeapStatistics', { value: () => ({ heap_size_limit: heapMiB * 2 ** 20 }) })
  t.intercept(process, 'constrainedMemory', { value: () => 0 })
}

const noWarning = (sentence: string) => t.fail(sentence)
const byDefault = { maxConnections: undefined, bodyLimit: 65536 }

t.test('by default bodies and unread responses take at most half of the memory', async t => {
  setLimits(t, 'unlimited', 512 + 192)
  t.strictSame(
    connectionLimit(byDefault, 1, noWarning), { limit: 1024, reason: 'MAX_CONNECTIONS is not set' }
  )
  t.equal(connectionLimit({ ...byDefault, bodyLimit: 2 ** 20 }, 1, noWarning).limit, 256)
  const { limit: least } = connectionLimit({ ...byDefault, bodyLimit: 2 ** 24 }, 1, noWarning)
  t.equal(least, 100, 'but 100 are always allowed')
  setLimits(t, 'unlimited', 8192)
  const { limit: most } = connectionLimit({ ...byDefault, bodyLimit: 1 }, 1, noWarning)
  t.equal(most, 10_000, 'and never more than 10,000')
})

t.test('the limit of a container counts when it is lower than that of the heap', async t => {
  setLimits(t, 'unlimited', 4096)
  t.intercept(process, 'constrainedMemory', { value: () => 256 * 2 ** 20 })
  t.equal(connectionLimit(byDefault, 1, noWarning).limit, 256)
})

t.test('MAX_CONNECTIONS replaces the default', async t => {
  setLimits(t, 100_000, 512)
  const reason = 'that is MAX_CONNECTIONS'
  const found = connectionLimit({ ...byDefault, maxConnections: 20_000 }, 1, noWarning)
  t.strictSame(found, { limit: 20_000, reason })
})

t.test('the limit leaves file descriptors for responses, the database, log and tokens', async t => {
  setLimits(t, 1024, 512)
  const reason = 'the process may open 1024 files (ulimit -n), and a connection needs two'
  t.strictSame(connectionLimit(byDefault, 1, noWarning), { limit: 480, reason })
  const warnings: string[] = []
  const lowered = connectionLimit(
    { ...byDefault, maxConnections: 2000 }, 1, sentence => warnings.push(sentence)
  )
  t.strictSame(lowered, { limit: 480, reason })
  t.strictSame(warnings, [`MAX_CONNECTIONS is lowered to 480: ${reason}.`])
  t.equal(connectionLimit(byDefault, 3, noWarning).limit, 464, 'each further thread needs some')
  setLimits(t, 20, 512)
  t.equal(connectionLimit(byDefault, 1, noWarning).limit, 5, 'half of very few')
})

t.test('unread responses leave a file descriptor to read the emptied file of tokens', async t => {
  const command = ['env', '-u', 'NODE_OPTIONS', 'prlimit', '--nofile=256', process.execPath]
  const folder = t.testdir({ tokens: `${testToken}\n` })
  const file = join(folder, 'tokens')
  const env = { ACCESS_TOKENS_FILE: file, MAX_CONNECTIONS: '300', THREADS: '2' }
  const { origin, output } = await startService(t, folder, env, [], { command })
  t.match(output(), 'MAX_CONNECTIONS is lowered to 88: the process may open 256 files (ulimit -n)')
  const post = async () => (await postPlant(origin, testToken, '{"id":1,"name":"x"}')).status
  t.equal(await post(), 200)
  for (let count = 0; count < 190; count++) {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {}).pause()
    t.teardown(() => socket.destroy())
    socket.write(
      requestText('GET /docs/static/swagger-ui-bundle.js', ['Host: x', '', '']).repeat(4)
    )
  }
  await sleep(1000)
  t.equal(await post(), 200, 'the first connection goes on')
  writeFileSync(file, '')
  await sleep(2500)
  t.equal(await post(), 401)
})

t.test('more connections than open files: the log has one line, and plants are stored', async t => {
  const command = ['env', '-u', 'NODE_OPTIONS', 'prlimit', '--nofile=128', process.execPath]
  const env = { ACCESS_TOKENS: testToken }
  const { origin, child, ended, output } = await startService(t, t.testdir(), env, [], { command })
  const post = async (id: number) => {
    return (await postPlant(origin, testToken, `{"id":${id},"name":"x"}`)).status
  }
  t.equal(await post(1), 200)
  const sockets = Array.from(
    { length: 300 }, () => connect(Number(new URL(origin).port), '127.0.0.1')
  )
  const closed = sockets.map(socket => once(socket.on('error', () => {}), 'close'))
  await Promise.race(closed)
  await sleep(200)
  t.equal(await post(2), 200, 'an open connection goes on')
  for (const socket of sockets) socket.destroy()
  await sleep(200)
  t.equal(await post(3), 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const refusals = output().match(
    /Connections refused: \d+\. 32 are open already; the process may open 128 files/g
  )
  t.equal(refusals?.length, 1)
})
