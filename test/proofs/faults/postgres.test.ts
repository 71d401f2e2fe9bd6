// PostgreSQL is killed under load and started again, or frozen: each request gets 200 or 503 in
// time, and no plant is lost or stored twice.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { checkTime } from '../../fixtures/clock.ts'
import { newAccount, sendPlants, settle } from '../../fixtures/load.ts'
import { missing } from '../../fixtures/packages.ts'
import { startBouncer } from '../../fixtures/pgbouncer.ts'
import { type OwnPostgres, startOwnPostgres } from '../../fixtures/postgres.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService, waitForReady } from '../../fixtures/service.ts'

const kills = Number(process.env.POSTGRES_KILLS ?? 8)
/** Longer than the 5 seconds after which the service asks the server to stop a statement. */
const frozenMs = 8000

/** Starts the service on a database. */
function startOn (t: Test, url: string) {
  return startService(t, t.testdir(), { ACCESS_TOKENS: testToken, DATABASE_URL: url })
}

const limit = 60_000 + kills * 20_000
const outcome = `the service recovers from ${kills} kills, and no plant is lost or stored twice`

t.test(outcome, { timeout: limit }, async t => {
  const server = await startOwnPostgres(t)
  await breakUnderLoad(t, server, server.url, kills, () => restart(server))
})

t.test(`behind PgBouncer ${outcome}`, { timeout: limit, skip: missing('pgbouncer') }, async t => {
  const server = await startOwnPostgres(t)
  const behind = await startBouncer(t, server, ['server_login_retry = 1'])
  await breakUnderLoad(t, server, behind('postgres'), kills, () => restart(server))
})

const goesOn = 'PgBouncer and the service go on after a freeze of PostgreSQL, and no plant is lost'

t.test(goesOn, { timeout: limit, skip: missing('pgbouncer') }, async t => {
  const server = await startOwnPostgres(t)
  const behind = await startBouncer(t, server)
  await breakUnderLoad(t, server, behind('postgres'), 1, async () => {
    const thaw = await server.freeze()
    await sleep(frozenMs)
    thaw()
  })
})

async function restart (server: OwnPostgres): Promise<void> {
  await server.kill()
  await server.start()
}

/** @param url by which the service reaches the server */
async function breakUnderLoad (
  t: Test, server: OwnPostgres, url: string, times: number, breakServer: () => Promise<void>
): Promise<void> {
  const { origin, child, ended } = await startOn(t, url)
  const account = newAccount()
  const load = sendPlants(origin, account, 16)
  let slowest = 0
  for (let time = 0; time < times; time++) {
    const before = account.acknowledged.size
    while (account.acknowledged.size < before + 50) await sleep(5)
    await breakServer()
    const began = performance.now()
    const since = account.acknowledged.size
    while (account.acknowledged.size === since) await sleep(5)
    slowest = Math.max(slowest, performance.now() - began)
  }
  await load.stop()
  checkTime(t, 'the slowest recovery', slowest, 3000)
  const unexpected = [...account.statuses.keys()].filter(status => ![200, 503].includes(status))
  t.strictSame(unexpected, [])
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const store = await openStore(server.url, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
}

t.test('without PostgreSQL the service answers 503 in time and is not ready', { timeout: 180_000 }, async t => {
  const server = await startOwnPostgres(t)
  const { origin } = await startOn(t, server.url)
  const postId = (id: number) => postPlant(origin, testToken, `{"id":${id},"name":"x"}`)
  t.equal((await postId(1)).status, 200)
  await server.kill()
  const began = performance.now()
  const [post, ready] = await Promise.all([postId(2), fetch(`${origin}/readyz`)])
  checkTime(t, '503', performance.now() - began, 11_000)
  t.strictSame([post.status, post.headers.get('retry-after'), ready.status], [503, '1', 503])
  t.equal((await fetch(`${origin}/livez`)).status, 200)
  await server.start()
  t.equal((await postId(2)).status, 200)
  await waitForReady(origin, 200)
})

t.test('the store waits for PostgreSQL to restart when it is killed during a schema upgrade', async t => {
  const server = await startOwnPostgres(t)
  await server.query(`
    CREATE TABLE plants_schema (one integer PRIMARY KEY, version integer NOT NULL);
    INSERT INTO plants_schema VALUES (1, 0)
  `)
  const other = new pg.Client(server.url).on('error', () => {})
  await other.connect()
  await other.query('BEGIN; SELECT FROM plants_schema FOR UPDATE')
  const opening = openStore(server.url, { maxQueue: 1 })
  const waitsForLock = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
  while ((await server.query(waitsForLock)).length === 0) await sleep(10)
  await server.kill()
  await server.start()
  const store = await opening
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  await store.close()
})
