import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { PlantStore } from '../../src/plants/plant-store.ts'
import { openStore } from '../../src/stores/open.ts'
import { all, plantStoreSuite, raceForIds } from '../fixtures/plant-store-suite.ts'
import { startPostgres } from '../fixtures/postgres.ts'

const server = await startPostgres(t)

async function open (t: Test, url: string): Promise<PlantStore> {
  const store = await openStore(url, { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
}

plantStoreSuite(t, async t => open(t, await server.database()))

t.test('of 64 clients of two services that race for the same 1,000 ids exactly one wins each', async t => {
  const url = await server.database()
  await raceForIds(t, await Promise.all([open(t, url), open(t, url)]))
})

t.test('services on one database agree: of different plants with the same id exactly one wins', async t => {
  const url = await server.database()
  const stores = await Promise.all([open(t, url), open(t, url.replace('postgres:', 'postgresql:')), open(t, url)])
  const outcomes = await Promise.all(Array.from({ length: 300 }, (_, index) => Promise.all(stores.map((store, service) =>
    // Each service adds the ids in another order, which is where transactions could block each other.
    store.add({ id: BigInt(service === 1 ? 299 - index : index), name: `from ${service}` })))))
  const count = (wanted: string) => outcomes.flat().filter(outcome => outcome === wanted).length
  t.strictSame([count('added'), count('conflict')], [300, 600])
  const plants = await all(stores[0] as PlantStore)
  t.equal(plants.length, 300)
  t.strictSame(plants, await all(stores[1] as PlantStore))
  await Promise.all(stores.map(store => store.close()))
  t.strictSame(await server.query(`SELECT deadlocks::int FROM pg_stat_database WHERE datname = '${new URL(url).pathname.slice(1)}'`), [{ deadlocks: 0 }])
})

t.test('a connection that is cut under load fails nobody, and loses and doubles nothing', async t => {
  const url = await server.database()
  const store = await open(t, url)
  const name = new URL(url).pathname.slice(1)
  const outcomes: string[] = []
  const load = new AbortController()
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let index = 0; !load.signal.aborted; index++) outcomes.push(await store.add({ id: BigInt(index * 8 + client), name: `plant ${index}` }))
  })
  for (let cut = 0; cut < 20; cut++) {
    await sleep(20)
    await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  }
  load.abort()
  await Promise.all(clients)
  // What was stored by a commit whose answer got lost is found there: unchanged, which is as good.
  t.ok(outcomes.length > 100)
  t.strictSame(outcomes.filter(outcome => outcome === 'conflict'), [])
  t.equal((await all(store)).length, outcomes.length)
})

t.test('a database that is not ready yet is waited for, one that refuses is told at once', async t => {
  const url = new URL(await server.database())
  const began = performance.now()
  await t.rejects(openStore(Object.assign(new URL(url), { pathname: '/nowhere' }).href, { maxQueue: 1 }), { message: 'The PostgreSQL database cannot be used: database "nowhere" does not exist.' })
  await t.rejects(openStore(Object.assign(new URL(url), { username: 'nobody' }).href, { maxQueue: 1 }), { message: /^The PostgreSQL database cannot be used: .*"nobody".*\.$/ })
  t.ok(performance.now() - began < 2000)
  await t.rejects(openStore(Object.assign(new URL(url), { port: 1 }).href, { maxQueue: 1 }), { message: /ECONNREFUSED/ })
  t.ok(performance.now() - began > 7000)
})

t.test('a server that takes connections and says nothing is given up on', async t => {
  const silent = createServer().listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as { port: number }
  await t.rejects(openStore(`postgres://test@127.0.0.1:${port}/test`, { maxQueue: 1 }), { message: /^The PostgreSQL database cannot be used: .*timeout.*\.$/i })
})

t.test('a database that cannot promise a commit is refused', async t => {
  const url = await server.database()
  const name = new URL(url).pathname.slice(1)
  await server.query(`ALTER DATABASE ${name} SET synchronous_commit = off`)
  await t.rejects(openStore(url, { maxQueue: 1 }), { message: /its synchronous_commit is off, so that a commit could be lost; set it to on/ })
  await server.query(`ALTER DATABASE ${name} RESET synchronous_commit; ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  await t.rejects(openStore(url, { maxQueue: 1 }), { message: 'The PostgreSQL database cannot be used: it is read-only.' })
  const latin = `${name}_latin`
  await server.query(`CREATE DATABASE ${latin} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'`)
  t.teardown(() => server.query(`DROP DATABASE ${latin} WITH (FORCE)`))
  await t.rejects(openStore(Object.assign(new URL(url), { pathname: `/${latin}` }).href, { maxQueue: 1 }), { message: /its encoding is LATIN1, which cannot hold all text/ })
})

t.test('commits stay durable when the default of the database changes under a running service', async t => {
  const url = await server.database()
  const name = new URL(url).pathname.slice(1)
  const store = await open(t, url)
  await server.query("CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.tag := current_setting('synchronous_commit'); RETURN NEW; END $$; CREATE TRIGGER tell BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION tell()", url)
  for (const [index, level] of ['off', 'local', 'remote_write', 'on', 'remote_apply'].entries()) {
    await server.query(`ALTER DATABASE ${name} SET synchronous_commit = ${level}`)
    await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
    if (level === 'off') await t.rejects(store.check(), { message: /synchronous_commit is off/ })
    t.equal(await store.add({ id: BigInt(index), name: level }), 'added')
  }
  t.strictSame((await all(store)).map(({ tag }) => tag), ['on', 'on', 'on', 'on', 'remote_apply'])
})

t.test('a plant that is neither added nor visible is not taken for stored', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await server.query('CREATE FUNCTION drop_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; CREATE TRIGGER drop_row BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION drop_row()', url)
  await t.rejects(store.add({ id: 1n, name: 'fern' }), { name: 'StoreUnavailable', cause: /plant 1 was not added, and the database does not show it/ })
})

t.test('a warning of a trigger fails nobody', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await server.query("CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'heed'; RETURN NEW; END $$; CREATE TRIGGER warn BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION warn()", url)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
})

t.test('the schema is made once, whoever starts, and one of a newer version is refused', async t => {
  const url = await server.database()
  await Promise.all(Array.from({ length: 10 }, () => open(t, url)))
  t.strictSame(await server.query('SELECT * FROM plants_schema', url), [{ one: 1, version: 1 }])
  await server.query('DROP TABLE plants_schema', url)
  await t.resolves(open(t, url), 'a table from before there were versions is taken over')
  await server.query('UPDATE plants_schema SET version = 2', url)
  await t.rejects(openStore(url, { maxQueue: 1 }), { message: 'The PostgreSQL database cannot be used: it was written by a newer version of this program (schema 2, known 1).' })
  await server.query('DELETE FROM plants_schema', url)
  await t.resolves(open(t, url))
})

t.test('a user who may only use the table can, and one who may not is told', async t => {
  const url = await server.database()
  await (await open(t, url)).close()
  const role = new URL(url).pathname.slice(1)
  await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  t.teardown(() => server.query(`DROP ROLE ${role}`))
  const limited = Object.assign(new URL(url), { username: role, password: 'secret' }).href
  await t.rejects(openStore(limited, { maxQueue: 1 }), { message: 'The PostgreSQL database cannot be used: permission denied for table plants_schema.' })
  await server.query(`GRANT SELECT ON plants_schema TO ${role}; GRANT SELECT, INSERT ON plants TO ${role}`, url)
  const store = await open(t, limited)
  t.strictSame([await store.add({ id: 1n, name: 'fern' }), await store.add({ id: 1n, name: 'fern' })], ['added', 'unchanged'])
  await store.close()
  const [message] = await server.query("SELECT oid::regprocedure AS name FROM pg_proc WHERE proname = 'pg_logical_emit_message' AND proargtypes[2] = 'text'::regtype", url)
  await server.query(`REVOKE EXECUTE ON FUNCTION ${message?.name} FROM PUBLIC`, url)
  await t.rejects(openStore(limited, { maxQueue: 1 }), { message: 'The PostgreSQL database cannot be used: permission denied for function pg_logical_emit_message.' })
  await server.query(`REVOKE ALL ON plants, plants_schema FROM ${role}`, url)
})

t.test('a failing database is 503 to its callers and not ready, and back without a restart', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await server.query('ALTER TABLE plants RENAME TO hidden', url)
  await t.rejects(store.add({ id: 1n, name: 'fern' }), { name: 'StoreUnavailable', message: 'The plant could not be stored. Sending it again is safe.', cause: /relation "plants" does not exist/ })
  await server.query('ALTER TABLE hidden RENAME TO plants', url)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  await t.resolves(store.check())
})
