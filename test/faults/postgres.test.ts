// PostgreSQL killed under load and started again: callers wait or learn of it in time, and nothing is lost or doubled.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { openStore } from '../../src/stores/open.ts'
import { newAccount, sendPlants, settle } from '../fixtures/load.ts'
import { startOwnPostgres } from '../fixtures/postgres.ts'
import { postPlant, startService } from '../fixtures/service.ts'

const kills = Number(process.env.POSTGRES_KILLS ?? 20)

t.test(`killed ${kills} times and started again, it is back by itself, and nothing is lost or doubled`, { timeout: 30_000 + kills * 5000 }, async t => {
  const server = await startOwnPostgres(t)
  const { origin, child, ended } = await startService(t, t.testdir(), { ACCESS_TOKENS: 'token', DATABASE_URL: server.url })
  const account = newAccount()
  const load = sendPlants(origin, account, 16)
  let slowest = 0
  for (let kill = 0; kill < kills; kill++) {
    const before = account.acknowledged.size
    while (account.acknowledged.size < before + 50) await sleep(5)
    await server.kill()
    await server.start()
    const began = performance.now()
    const since = account.acknowledged.size
    while (account.acknowledged.size === since) await sleep(5)
    slowest = Math.max(slowest, performance.now() - began)
  }
  await load.stop()
  t.ok(slowest < 3000, `back ${Math.round(slowest)} ms after the database at the latest`)
  t.strictSame([...account.statuses.keys()].filter(status => ![200, 503].includes(status)), [])
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const store = await openStore(server.url, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})

t.test('while it is gone the answer is 503 in time, and the service is not ready', { timeout: 60_000 }, async t => {
  const server = await startOwnPostgres(t)
  const { origin } = await startService(t, t.testdir(), { ACCESS_TOKENS: 'token', DATABASE_URL: server.url })
  t.equal((await postPlant(origin, 'token', '{"id":1,"name":"x"}')).status, 200)
  await server.kill()
  const began = performance.now()
  const [post, ready] = await Promise.all([postPlant(origin, 'token', '{"id":2,"name":"x"}'), fetch(`${origin}/readyz`)])
  t.ok(performance.now() - began < 11_000, 'within the deadline')
  t.strictSame([post.status, post.headers.get('retry-after'), ready.status], [503, '1', 503])
  t.equal((await fetch(`${origin}/livez`)).status, 200)
  await server.start()
  t.equal((await postPlant(origin, 'token', '{"id":2,"name":"x"}')).status, 200)
  t.equal((await fetch(`${origin}/readyz`)).status, 200)
})

t.test('killed while the schema is upgraded, it is waited for', async t => {
  const server = await startOwnPostgres(t)
  await server.query('CREATE TABLE plants_schema (one integer PRIMARY KEY, version integer NOT NULL); INSERT INTO plants_schema VALUES (1, 0)')
  const other = new pg.Client(server.url).on('error', () => {})
  await other.connect()
  await other.query('BEGIN; SELECT FROM plants_schema FOR UPDATE')
  const opening = openStore(server.url, { maxQueue: 1 })
  while ((await server.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length === 0) await sleep(10)
  await server.kill()
  await server.start()
  const store = await opening
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  await store.close()
})
