// Databases that hang instead of failing: callers get 503 in time, the service recovers without a
// restart, and nothing is lost or stored twice.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { checkTime } from '../../fixtures/clock.ts'
import { type Account, newAccount, sendPlants, settle } from '../../fixtures/load.ts'
import { startOwnPostgres } from '../../fixtures/postgres.ts'
import { startRelay } from '../../fixtures/relay.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService, waitForReady } from '../../fixtures/service.ts'

// The tests mostly wait, so they run in parallel.
t.jobs = 5
// tap keeps its state in the object: give each test another one.
const options = () => ({ buffered: true, timeout: 180_000 })

const longerThanEveryTimeoutMs = 12_000

interface Hang {
  /** The folder of the service. */
  folder?: string
  databaseUrl: string
  /** Where the test reads the plants at the end. */
  directUrl?: string
  /** Makes the database hang; returns a function that lets it go on. */
  hang: () => Promise<() => unknown> | (() => unknown)
}

/** Sends plants while the database hangs and afterwards, and asserts what callers see. */
async function survives (
  t: Test,
  { folder = t.testdir(), databaseUrl, directUrl = databaseUrl, hang }: Hang
): Promise<void> {
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: databaseUrl }
  const { origin, child, ended, output } = await startService(t, folder, env)
  const account = newAccount()
  const load = sendPlants(origin, account, 8)
  await acknowledge(account, 50)

  const release = await hang()
  const began = performance.now()
  const elapsed = () => performance.now() - began
  const order: string[] = []
  const notReady = waitForReady(origin, 503).then(() => {
    order.push('not ready')
    checkTime(t, 'not ready', elapsed(), 4000)
  })
  const refused = postPlant(origin, testToken, '{"id":-1,"name":"x"}').then(({ status }) => {
    order.push(`${status}`)
    checkTime(t, '503', elapsed(), 11_000)
  })
  await Promise.all([notReady, refused])
  // /readyz waits for two seconds, a plant for eight.
  t.strictSame(order, ['not ready', '503'], 'both while the database hangs')
  await sleep(Math.max(longerThanEveryTimeoutMs - elapsed(), 0))

  await release()
  const released = performance.now()
  await acknowledge(account, 1)
  await waitForReady(origin, 200)
  checkTime(t, 'recovered', performance.now() - released, 3000)
  await acknowledge(account, 50)
  await load.stop()
  t.strictSame([...account.statuses.keys()].filter(status => ![200, 503].includes(status)), [])

  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), /no response of the handler/, 'each 503 has the cause in the log')
  account.sent.set(-1n, { id: -1n, name: 'x' })
  const store = await openStore(directUrl, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
}

/** Waits until the service has acknowledged this many more plants. */
async function acknowledge (account: Account, count: number): Promise<void> {
  const before = account.acknowledged.size
  while (account.acknowledged.size < before + count) await sleep(5)
}

/**
 * A server, and a function that returns the largest number of connections of the service so far.
 */
async function startCounted (t: Test) {
  const server = await startOwnPostgres(t)
  const counting = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'plant-store'"
  let most = 0
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= server.query(counting).then(([row]) => {
      most = Math.max(most, Number(row?.count))
      running = undefined
    })
  }, 200)
  t.teardown(async () => {
    clearInterval(timer)
    await running
  })
  return { server, mostConnections: () => most }
}

t.test('all processes of PostgreSQL are stopped', options(), async t => {
  const { server, mostConnections } = await startCounted(t)
  await survives(t, { databaseUrl: server.url, hang: server.freeze })
  t.ok(mostConnections() <= 8, `${mostConnections()} connections`)
})

t.test('another session locks the table of PostgreSQL', options(), async t => {
  const { server, mostConnections } = await startCounted(t)
  const other = new pg.Client(server.url)
  await other.connect()
  t.teardown(() => other.end())
  await survives(t, {
    databaseUrl: server.url,
    async hang () {
      await other.query('BEGIN; LOCK TABLE plants IN ACCESS EXCLUSIVE MODE')
      return () => other.query('COMMIT')
    }
  })
  t.ok(mostConnections() <= 4, `${mostConnections()} connections`)
})

t.test('the network to PostgreSQL swallows everything', options(), async t => {
  const { server, mostConnections } = await startCounted(t)
  const relay = await startRelay(t, server.url)
  await survives(t, {
    databaseUrl: relay.url,
    directUrl: server.url,
    hang () {
      relay.swallow(true)
      return () => relay.swallow(false)
    }
  })
  t.ok(mostConnections() <= 8, `${mostConnections()} connections`)
})

/** Begins a transaction that locks the file of a plant store. */
function lock (file: string): () => void {
  const other = new DatabaseSync(file, { timeout: 5000 })
  other.exec('BEGIN IMMEDIATE')
  return () => {
    other.exec('ROLLBACK')
    other.close()
  }
}

t.test('another process locks the SQLite file', options(), async t => {
  const folder = t.testdir()
  const file = join(folder, 'plants.db')
  await survives(t, { folder, databaseUrl: `sqlite:${file}`, hang: () => lock(file) })
})

t.test('plants wait for a process that locks the SQLite file for three seconds', options(), async t => {
  const folder = t.testdir()
  const file = join(folder, 'plants.db')
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: `sqlite:${file}` }
  const { origin, child, ended } = await startService(t, folder, env)
  const release = lock(file)
  const began = performance.now()
  const adding = Array.from({ length: 5 }, (_, id) => postPlant(origin, testToken, `{"id":${id},"name":"x"}`))
  await sleep(3000)
  release()
  const responses = await Promise.all(adding)
  t.strictSame(responses.map(({ status }) => status), [200, 200, 200, 200, 200])
  checkTime(t, 'stored', performance.now() - began, 4000)

  // A lock that lasts for ever does not keep the service from shutting down.
  t.teardown(lock(file))
  const refused = postPlant(origin, testToken, '{"id":9,"name":"x"}')
  await sleep(100)
  child.kill('SIGTERM')
  t.equal((await refused).status, 503)
  t.equal(await ended, 0)
})
