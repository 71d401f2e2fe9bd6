// PgBouncer between the store and PostgreSQL, in transaction mode: each transaction may run on
// another connection.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { PlantStore } from '../../../src/plants/plant-store.ts'
import { openStore } from '../../../src/stores/open.ts'
import { missing } from '../../fixtures/packages.ts'
import { plantStoreSuite } from '../../fixtures/plant-store-suite.ts'
import { startBouncer } from '../../fixtures/pgbouncer.ts'
import { changeSession, startOwnPostgres } from '../../fixtures/postgres.ts'

const fern = { id: 1n, name: 'fern' }

async function open (t: Test, url: string): Promise<PlantStore> {
  const store = await openStore(url, { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
}

t.test('PgBouncer', { skip: missing('pgbouncer'), timeout: 120_000 }, async t => {
  const server = await startOwnPostgres(t)
  const behind = await startBouncer(t, server)
  let databases = 0
  const create = async () => {
    const name = `plants_${databases++}`
    await server.query(`CREATE DATABASE ${name}`)
    return name
  }

  t.test(
    'keeps all promises of a store',
    async t => plantStoreSuite(t, async t => open(t, behind(await create())))
  )

  t.test('hands over sessions that another client changed', async t => {
    const name = await create()
    const url = behind(name)
    // default_pool_size is 2: these are all sessions.
    const others = [new pg.Client(url), new pg.Client(url)]
    for (const other of others) {
      await other.connect()
      t.teardown(() => other.end())
      await other.query(`BEGIN; SET synchronous_commit = off; SET client_encoding = LATIN1;
        DO $$ BEGIN ${changeSession} END $$`)
    }
    for (const other of others) await other.query('COMMIT')
    const store = await open(t, url)
    t.equal(await store.add({ ...fern, tag: '🌿' }), 'added')
    t.equal(await store.add({ ...fern, tag: '🌿' }), 'unchanged')
    await t.resolves(store.check())
    const own = server.url.replace('/postgres', `/${name}`)
    t.strictSame(await server.query('SELECT length(tag) FROM plants', own), [{ length: 1 }])
  })

  t.test('hands over sessions in which another client has other tables of plants', async t => {
    const url = behind(await create())
    const store = await open(t, url)
    t.equal(await store.add(fern), 'added')
    const table = 'plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)'
    const others = [new pg.Client(url), new pg.Client(url)]
    for (const [index, other] of others.entries()) {
      await other.connect()
      t.teardown(() => other.end())
      await other.query(`BEGIN; CREATE SCHEMA other${index}; CREATE TABLE other${index}.${table};
        SET search_path = other${index}; CREATE TEMPORARY TABLE ${table}`)
    }
    for (const other of others) await other.query('COMMIT')
    for (let tries = 0; tries < 4; tries++) {
      t.equal(await store.add({ ...fern, name: 'oak' }), 'conflict')
    }
    await t.resolves(store.check())
    const second = await open(t, url)
    t.equal(await second.add(fern), 'unchanged')
  })

  t.test('gets a way out when it refuses the password', async t => {
    const url = behind(await create()).replace(/:[^:@]*@/, ':wrong@')
    await t.rejects(openStore(url, { maxQueue: 1 }), /failed; correct the user and the password in DATABASE_URL\.$/)
  })

  t.test('passes on the request to stop a statement', async t => {
    const name = await create()
    const store = await open(t, behind(name))
    const other = new pg.Client(server.url.replace('/postgres', `/${name}`))
    await other.connect()
    t.teardown(() => other.end())
    await other.query('BEGIN; LOCK TABLE plants')
    await t.rejects(store.add(fern), { name: 'StoreUnavailable' })
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    while ((await server.query(waiting)).length > 0) await sleep(10)
    await other.query('COMMIT')
    t.match(await store.add(fern), /added|unchanged/)
  })

  t.test('passes on the warning of a cancelled wait for the standby', async t => {
    const name = await create()
    const store = await open(t, behind(name))
    await server.requireStandby('nobody')
    t.teardown(() => server.requireNoStandby())
    const adding = t.rejects(store.add(fern), {
      name: 'StoreUnavailable',
      cause: /canceling wait for synchronous replication/
    })
    await server.commitWaits()
    await server.query(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    )
    await adding
  })
})
