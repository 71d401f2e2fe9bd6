import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createWebServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { PlantStore } from '../../../src/plants/plant-store.ts'
import { openStore } from '../../../src/stores/open.ts'
import { newest } from '../../../src/stores/postgres/columns.ts'
import { describeError, isTransient } from '../../../src/stores/postgres/errors.ts'
import { all, plantStoreSuites, raceForIds } from '../../fixtures/plant-store-suite.ts'
import { changeSession, startOwnPostgres, startPostgres } from '../../fixtures/postgres.ts'
import { startRelay } from '../../fixtures/relay.ts'
import { postgres as version1 } from '../../fixtures/version-1.ts'

const server = await startPostgres(t)
const guide = readFileSync('docs/use/postgresql.md', 'utf8')
const [, sqlOfOwner = ''] = /## SQL for the owner\n[^]*?```sql\n([^]*?)```/.exec(guide) ?? []

async function open (t: Test, url: string): Promise<PlantStore> {
  const store = await openStore(url, { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
}

const cannotBeUsed = (url: string) => `The PostgreSQL database at ${new URL(url).host} cannot be used:`
/** The cause in the log while the service runs. */
const causeOf = (url: string, problem: string) => cannotBeUsed(url).replace('The', 'the') + ` ${problem}`

/** Opens a store and expects this error. */
function rejectsOpening (t: Test, url: string, message: string | RegExp) {
  return t.rejects(openStore(url, { maxQueue: 1 }), { message })
}

const changeUrl = (url: string, parts: Partial<URL>) => Object.assign(new URL(url), parts).href
const databaseName = (url: string) => new URL(url).pathname.slice(1)

/** Ends all connections to a database. */
function terminateConnections (url: string) {
  return server.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${databaseName(url)}'`
  )
}

/** Runs these PL/pgSQL statements before each insertion of a plant. */
function createTrigger (url: string, statements: string) {
  return server.query(`
    CREATE FUNCTION on_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statements} END $$;
    CREATE TRIGGER on_insert BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION on_insert()
  `, url)
}

plantStoreSuites(t, () => server.database())

t.test('each of 200 ids goes to exactly one of the 64 clients of two services that race for it', async t => {
  const url = await server.database()
  await raceForIds(t, await Promise.all([open(t, url), open(t, url)]))
})

t.test('three services on one database accept exactly one of three plants with the same id', async t => {
  const url = await server.database()
  const urls = [url, url.replace('postgres:', 'postgresql:'), url]
  const stores = await Promise.all(urls.map(url => open(t, url)))
  const indexes = Array.from({ length: 300 }, (_, index) => index)
  const adding = indexes.flatMap(index => stores.map((store, service) => {
    // One service adds the ids in the opposite order: transactions could deadlock.
    const id = BigInt(service === 1 ? 299 - index : index)
    return store.add({ id, name: `from ${service}` })
  }))
  const outcomes = await Promise.all(adding)
  const count = (wanted: string) => outcomes.filter(outcome => outcome === wanted).length
  t.strictSame([count('added'), count('conflict')], [300, 600])
  const plants = await all(stores[0] as PlantStore)
  t.equal(plants.length, 300)
  t.strictSame(plants, await all(stores[1] as PlantStore))
  await Promise.all(stores.map(store => store.close()))
  const deadlocks = `SELECT deadlocks::int FROM pg_stat_database WHERE datname = '${databaseName(url)}'`
  t.strictSame(await server.query(deadlocks), [{ deadlocks: 0 }])
})

t.test('a terminated connection under load fails no call, and no plant is lost or stored twice', async t => {
  const url = await server.database()
  const store = await open(t, url)
  const outcomes: string[] = []
  const load = new AbortController()
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let index = 0; !load.signal.aborted; index++) {
      outcomes.push(await store.add({ id: BigInt(index * 8 + client), name: `plant ${index}` }))
    }
  })
  for (let cut = 0; cut < 20; cut++) {
    await sleep(20)
    await terminateConnections(url)
  }
  load.abort()
  await Promise.all(clients)
  t.ok(outcomes.length > 100)
  // 'unchanged' is correct too: the first commit succeeded, but the connection ended before its
  // response.
  t.strictSame(outcomes.filter(outcome => outcome === 'conflict'), [])
  t.equal((await all(store)).length, outcomes.length)
})

t.test('startup refuses a table of another program and creates nothing beside it', async t => {
  const others = {
    'CREATE TABLE plants (id integer PRIMARY KEY, name text, tag text)':
      'the column id of its table plants is of the type int4, not int8',
    'CREATE TABLE plants (id bigint PRIMARY KEY, title text)':
      'its table plants has no column name of the type text',
    'CREATE VIEW plants AS SELECT 1::bigint AS id': 'its table plants has no column name of the type text'
  }
  for (const [create, problem] of Object.entries(others)) {
    const url = await server.database()
    await server.query(create, url)
    await rejectsOpening(t, url, `${cannotBeUsed(url)} ${problem}; ` +
      'use another database if it belongs to another program, or undo the change of the ' +
      'table, of a migration that has run, or of a `since` in src/stores/postgres/columns.ts.')
    t.strictSame(
      await server.query("SELECT to_regclass('plants_schema')", url),
      [{ to_regclass: null }],
      create
    )
  }
})

// These tests mostly wait for a timeout. tap keeps its state in the options: give each test other
// ones.
t.jobs = 6
const inParallel = () => ({ buffered: true, timeout: 180_000 })

t.test('startup waits for a database that is not ready, and reports a refusal at once', inParallel(), async t => {
  const url = await server.database()
  const relay = await startRelay(t, url)
  await rejectsOpening(t, changeUrl(relay.url, { pathname: '/nowhere' }),
    `${cannotBeUsed(relay.url)} database "nowhere" does not exist; create it, or correct DATABASE_URL.`)
  const unknownUser = /cannot be used: .*"nobody"; correct the user and the password in DATABASE_URL\.$/
  await rejectsOpening(t, changeUrl(relay.url, { username: 'nobody' }), unknownUser)
  t.equal(relay.accepted(), 2, 'a refusal is not tried again')

  const began = performance.now()
  const warnings: string[] = []
  const nothing = changeUrl(url, { port: '1' })
  const opening = openStore(nothing, { maxQueue: 1, onWarning: warning => warnings.push(warning) })
  const problem = 'nothing listens there; start PostgreSQL, or correct DATABASE_URL.'
  await t.rejects(opening, { message: `${cannotBeUsed(nothing)} ${problem}` })
  t.ok(performance.now() - began > 7000)
  t.strictSame(
    warnings, [`Waiting for the PostgreSQL database at ${new URL(nothing).host}: ${problem}`]
  )
})

t.test('parameters that pg cannot use are reported at once', async t => {
  const problems = {
    'sslmode=disable&sslnegotiation=direct': 'sslnegotiation=direct requires SSL to be enabled',
    'sslnegotiation=a': 'Invalid sslnegotiation value: "a". Valid values are "postgres" and "direct"'
  }
  for (const [query, problem] of Object.entries(problems)) {
    const warnings: string[] = []
    const opening = openStore(`postgres://127.0.0.1:1/d?${query}`, {
      maxQueue: 1,
      onWarning: warning => warnings.push(warning)
    })
    await t.rejects(opening, { message: `${cannotBeUsed('postgres://127.0.0.1:1')} ${problem}.` })
    t.strictSame(warnings, [], 'it is not tried again')
  }
  for (const port of ['70000', '-1', 'a']) {
    const opening = openStore(`postgres://127.0.0.1/d?port=${port}`, { maxQueue: 1 })
    await t.rejects(opening, { message: /: its port is not valid; correct DATABASE_URL or PGPORT\.$/ })
  }
})

t.test('startup names each host of a list that cannot be used', inParallel(), async t => {
  const url = await server.database()
  const { host } = new URL(url)
  const withHosts = (hosts: string) => url.replace(host, hosts)
  const warnings: string[] = []
  const store = await openStore(withHosts(`127.0.0.1:1,${host},nowhere.invalid`), {
    maxQueue: 1,
    onWarning: warning => warnings.push(warning)
  })
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  await store.close()
  const nothing = '127.0.0.1:1: nothing listens there; start PostgreSQL, or correct DATABASE_URL'
  const unresolved = 'nowhere.invalid:5432: the host does not resolve; correct DATABASE_URL or PGHOST'
  const database = `PostgreSQL database at 127.0.0.1:1, ${host}, nowhere.invalid:5432`
  // A busy machine may let it wait for the host that can be used.
  const failures = warnings.filter(warning => !warning.startsWith('Waiting for'))
  t.strictSame(failures, [`A host of the ${database} cannot be used: ${nothing}; ${unresolved}.`])

  await server.query(`ALTER DATABASE ${databaseName(url)} SET default_transaction_read_only = on`)
  await rejectsOpening(t, withHosts(`127.0.0.1:1,${host}`),
    `The PostgreSQL database at 127.0.0.1:1, ${host} cannot be used: ${nothing}; ${host}: it is ` +
    'read-only; SET default_transaction_read_only = off (ALTER SYSTEM, DATABASE or ROLE); on a standby, ' +
    'name the primary, or all hosts, as in postgres://user@a,b/database.')
})

t.test('startup refuses a server that is not PostgreSQL', inParallel(), async t => {
  const web = createWebServer((_request, response) => response.end()).listen(0, '127.0.0.1')
  t.teardown(() => web.close())
  await once(web, 'listening')
  const { port } = web.address() as AddressInfo
  await rejectsOpening(t, `postgres://test@127.0.0.1:${port}/test`,
    /it closed the connection without a word; check that it is PostgreSQL and not another program\.$/)
})

t.test('startup fails after a timeout when a server accepts connections and never responds', inParallel(), async t => {
  const silent = createServer().listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const silentUrl = `postgres://test@127.0.0.1:${port}/test`
  await rejectsOpening(t, silentUrl,
    `${cannotBeUsed(silentUrl)} it does not respond; check the network and the server.`)
})

t.test('a statement that runs out of time is stopped on the server', inParallel(), async t => {
  const url = await server.database()
  const { username, password, port, pathname } = new URL(url)
  const socketUrl = `postgres://${username}:${password}@${pathname}?host=/tmp&port=${port}`
  for (const address of [url, socketUrl]) {
    const store = await open(t, address)
    const other = new pg.Client(url)
    await other.connect()
    await other.query('BEGIN; LOCK TABLE plants')
    await t.rejects(
      store.add({ id: 1n, name: 'fern' }), { name: 'StoreUnavailable', cause: /timeout/ }
    )
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '${databaseName(url)}'`
    while ((await server.query(waiting)).length > 0) await sleep(10)
    await other.end()
    t.match(await store.add({ id: 1n, name: 'fern' }), /added|unchanged/)
  }
})

t.test('logins that fail leave no connection open', inParallel(), async t => {
  // AuthenticationSASL with SCRAM-SHA-256, AuthenticationSASLContinue: PostgreSQL 18, section 54.7
  // "Message Formats".
  const messages = ['52000000170000000a534352414d2d5348412d3235360000', '520000000b0000000b723d78']
  const open = new Set<Socket>()
  const scram = createServer(socket => {
    open.add(socket)
    const left = [...messages]
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    socket.on('data', () => socket.write(Buffer.from(left.shift() ?? '', 'hex')))
  }).listen(0, '127.0.0.1')
  t.teardown(() => scram.close())
  await once(scram, 'listening')
  const { port } = scram.address() as AddressInfo
  await rejectsOpening(t, `postgres://test:wrong@127.0.0.1:${port}/test`,
    /: the login failed \(SASL: .*\); correct the password in DATABASE_URL\.$/)
  await rejectsOpening(t, `postgres://test@127.0.0.1:${port}/test`,
    /: the login needs a password; set it in DATABASE_URL, or as PGPASSWORD in the environment\.$/)
  while (open.size > 0) await sleep(10)
})

t.test('a statement that cannot be stopped gives its connection back', inParallel(), async t => {
  const relay = await startRelay(t, await server.database())
  const store = await open(t, relay.url)
  relay.swallow(true)
  relay.stopListening()
  const problem = 'nothing listens there; start PostgreSQL, or correct DATABASE_URL'
  await t.rejects(store.add({ id: 1n, name: 'fern' }), {
    name: 'StoreUnavailable',
    cause: { message: causeOf(relay.url, problem), cause: Error }
  }, 'the log names the database')
  await t.resolves(store.close(), 'the pool has all of its connections')
})

t.test('a database that can lose commits, is read-only or cannot hold all text is refused', async t => {
  const url = await server.database()
  const name = databaseName(url)
  await server.query(`ALTER DATABASE ${name} SET synchronous_commit = off`)
  await rejectsOpening(
    t, url, /its synchronous_commit is off, so that a commit could be lost; set it to on/
  )

  await server.query(`
    ALTER DATABASE ${name} RESET synchronous_commit;
    ALTER DATABASE ${name} SET default_transaction_read_only = on
  `)
  const readOnly = 'it is read-only; SET default_transaction_read_only = off (ALTER SYSTEM, DATABASE or ROLE).'
  await rejectsOpening(t, url, `${cannotBeUsed(url)} ${readOnly}`)

  const latin = `${name}_latin`
  await server.query(`CREATE DATABASE ${latin} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'`)
  t.teardown(() => server.query(`DROP DATABASE ${latin} WITH (FORCE)`))
  const latinUrl = changeUrl(url, { pathname: `/${latin}` })
  await rejectsOpening(t, latinUrl, /its encoding is LATIN1, which cannot hold all text/)
})

t.test('a table that a crash empties is refused', async t => {
  const url = await server.database()
  await server.query(
    'CREATE UNLOGGED TABLE plants (id bigint PRIMARY KEY, name text, tag text)', url
  )
  await rejectsOpening(t, url, `${cannotBeUsed(url)} its table plants is UNLOGGED, so that a crash empties it; ` +
    'use ALTER TABLE plants SET LOGGED.')
  await server.query('ALTER TABLE plants SET LOGGED', url)
  await open(t, url)
})

t.test('only a table that keeps its rows is accepted, with all its partitions', async t => {
  const keys = '(id bigint PRIMARY KEY, name text NOT NULL, tag text)'
  const halves = `CREATE TABLE plants ${keys} PARTITION BY RANGE (id);
    CREATE TABLE low PARTITION OF plants FOR VALUES FROM (MINVALUE) TO (0);`
  const high = 'TABLE high PARTITION OF plants FOR VALUES FROM (0) TO (MAXVALUE)'
  const cases: Array<[create: string, problem: RegExp]> = [
    [`${halves} CREATE UNLOGGED ${high}`, /its table plants is UNLOGGED/],
    [
      `CREATE UNLOGGED TABLE hidden ${keys}; CREATE VIEW plants AS SELECT * FROM hidden`,
      /its plants are no table, so that nothing is known of their durability; use a table\./
    ],
    [
      `CREATE TABLE plants ${keys}; CREATE TABLE child () INHERITS (plants)`,
      /other tables inherit from its table plants, so that an id may be there twice; use partit/
    ]
  ]
  for (const [create, problem] of cases) {
    const url = await server.database()
    await server.query(create, url)
    await rejectsOpening(t, url, problem)
  }
  const url = await server.database()
  await server.query(`${halves} CREATE ${high}`, url)
  const store = await open(t, url)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  t.equal(await store.add({ id: 1n, name: 'oak' }), 'conflict')
})

t.test('a wrong statement is named, and not tried again', async t => {
  const client = new pg.Client(await server.database())
  await client.connect()
  await client.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text)')
  const statements: Array<[text: string, values: unknown[]]> = [
    ['INSERT INTO plants VALUES ($1, $2)', [1, 'fern', 'more']],
    ['INSERT INTO plants VALUES ($1, $2)', [1]],
    ['INSERT INTO plants (id, name) SELECT 1', []],
    ['INSERT INTO plants SELECT 1 \'fern\' CASE', []],
    ['INSERT INTO plants (id, nme) VALUES (1, $1)', ['fern']],
    ['INSERT INTO plants SELECT name, id FROM (VALUES (1, $1::text)) AS added (id, name)', ['fern']],
    ['INSERT INTO plants SELECT * FROM unnest($1::bigint[]) AS added (id, name)', [['1']]],
    ['INSERT INTO plants VALUES ($1, $3)', [1, 'fern', 'fern']],
    ['INSERT INTO plants SELECT $1::boolean[]::bigint[]', [[true]]],
    ['INSERT INTO plants SELECT unnest($1::bigint[])', ['{{}']]
  ]
  for (const [text, values] of statements) {
    const error = await client.query(text, values).then(() => t.fail(text), (error: unknown) => error)
    t.match(describeError(error), /; correct the statement \(docs\/build\/add-a-member\.md\), or undo/, text)
    t.equal(isTransient(error), false, text)
  }
  await client.end()
})

t.test('a table that does not take every plant is refused, and nothing stays of the plants that tried it', async t => {
  const columns = 'id bigint PRIMARY KEY, name text NOT NULL, tag text'
  const create = `CREATE TABLE plants (${columns})`
  const from = (range: string) => `${create} PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF plants FOR VALUES FROM ${range}`
  const cases: Array<[create: string, problem: RegExp]> = [
    [create.replace('PRIMARY KEY', ''), /no unique or exclusion constraint/],
    [create.replace('KEY', 'KEY DEFERRABLE'), /ON CONFLICT does not support deferrable/],
    [`CREATE TABLE plants (${columns}, "not a member" int NOT NULL)`, /null value in column "not a member"/],
    [`CREATE TABLE plants (${columns} NOT NULL)`, /null value in column "tag"/],
    [`CREATE TABLE plants (${columns}, CHECK (id > 0))`, /violates check constraint/],
    [
      `CREATE TABLE plants (${columns}, "not a member" bigint DEFAULT 1 REFERENCES plants INITIALLY DEFERRED)`,
      /foreign key/
    ],
    [create.replace('PRIMARY', 'GENERATED ALWAYS AS IDENTITY PRIMARY'), /non-DEFAULT value into/],
    [from('(0) TO (MAXVALUE)'), /no partition of relation "plants"/],
    [from('(MINVALUE) TO (0)'), /no partition of relation "plants"/],
    [`${create}; CREATE RULE none AS ON INSERT TO plants DO INSTEAD NOTHING`, /cannot perform INSERT/]
  ]
  for (const [create, problem] of cases) {
    const url = await server.database()
    await server.query(create, url)
    await rejectsOpening(t, url, new RegExp(`cannot be used: .*${problem.source}.*; its table plants ` +
      'does not take every plant: undo what makes its table plants differ from the SQL for the owner in docs/use/postgresql\\.md\\.$'))
  }
  const url = await server.database()
  await server.query(create, url)
  await createTrigger(url, "IF NEW.id < 0 THEN RAISE 'no'; END IF; RETURN NEW;")
  await rejectsOpening(t, url, /: no; its table plants does not take every plant/)
  await server.query('DROP FUNCTION on_insert CASCADE', url)
  await createTrigger(url, 'RETURN NULL;')
  await rejectsOpening(t, url, /: a trigger drops rows, or a row policy hides them; its table plants/)
  await server.query('ALTER TABLE plants DISABLE TRIGGER on_insert', url)
  await (await open(t, url)).close()
  t.strictSame(await server.query('TABLE plants', url), [])
  const outermost = "(-9223372036854775808, 'first'), (9223372036854775807, 'last')"
  await server.query(`INSERT INTO plants VALUES ${outermost}`, url)
  t.equal(await (await open(t, url)).count(), 2, 'plants with the ids that it tries')
})

t.test('the tables are in the first lasting schema of the search path', async t => {
  const url = await server.database()
  const name = databaseName(url)
  const store = async () => openStore(url, { maxQueue: 10 })
  await server.query(`CREATE SCHEMA "My plants";
    ALTER DATABASE ${name} SET search_path = pg_temp, nowhere, "My plants", public`, url)
  const first = await store()
  t.equal(await first.add({ id: 1n, name: 'fern' }), 'added')
  await first.close()
  await server.query(`ALTER DATABASE ${name} SET search_path = public, "My plants"`)
  const second = await store()
  t.equal(await second.add({ id: 1n, name: 'oak' }), 'conflict', 'the schema with plants')
  t.equal(await second.count(), 1)
  await server.query(`ALTER DATABASE ${name} SET search_path = public; CREATE TABLE public.plants (LIKE "My plants".plants);
    CREATE TABLE public.plants_schema (LIKE "My plants".plants_schema); INSERT INTO public.plants_schema VALUES (1, 1)`, url)
  await terminateConnections(url)
  await t.rejects(second.check(), /its search_path leads to the schema "public", and no longer to "My plants"; set it back$/)
  t.equal(await second.add({ id: 1n, name: 'oak' }), 'conflict', 'in the schema of before')
  await server.query(`ALTER DATABASE ${name} SET search_path = public, "My plants"`)
  await terminateConnections(url)
  const twoSchemas = /its search_path leads to the tables of "public" and of "My plants"; leave one of these schemas/
  await t.rejects(second.check(), twoSchemas)
  await rejectsOpening(t, url, twoSchemas)
  t.equal(await second.add({ id: 1n, name: 'oak' }), 'conflict', 'in the schema of before')
  await second.close()
  await server.query(`DROP TABLE public.plants_schema; ALTER DATABASE ${name} SET search_path = public`, url)
  const elsewhere = /: tables of the service are in the schema "My plants", but its search_path leads to "public" first; name/
  await rejectsOpening(t, url, elsewhere)
  await server.query('DROP TABLE public.plants', url)
  await rejectsOpening(t, url, elsewhere)
  t.strictSame(await server.query("SELECT to_regclass('public.plants') AS made", url), [{ made: null }])
  await server.query(`ALTER DATABASE ${name} SET search_path = nowhere`)
  await rejectsOpening(t, url, /its search_path names no schema that its user may use; GRANT USAGE on that schema, or name another/)
})

t.test('the table is known where names of types are quoted', async t => {
  const url = await server.database()
  await server.query(`ALTER DATABASE ${databaseName(url)} SET quote_all_identifiers = on`)
  for (const outcome of ['added', 'unchanged']) {
    const store = await openStore(url, { maxQueue: 10 })
    t.equal(await store.add({ id: 1n, name: 'fern' }), outcome)
    await t.resolves(store.check())
    await store.close()
  }
})

t.test('a user whose sessions end with an error can start the service', async t => {
  const url = await server.database()
  await server.query(`ALTER DATABASE ${databaseName(url)} SET exit_on_error = on`)
  const store = await open(t, url)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
})

t.test('a plant without a tag has none where arrays hold no NULL', async t => {
  const url = await server.database()
  await server.query(`ALTER DATABASE ${databaseName(url)} SET array_nulls = off`)
  const store = await open(t, url)
  const plants = [{ id: 1n, name: 'fern' }, { id: 2n, name: 'NULL', tag: 'NULL' }, { id: 3n, name: '', tag: '' }]
  for (const plant of plants) t.equal(await store.add(plant), 'added')
  for (const plant of plants) t.equal(await store.add(plant), 'unchanged')
  t.strictSame(await all(store), plants)
})

t.test('a server without fsync is refused', async t => {
  const { url, query, kill, start } = await startOwnPostgres(t)
  await query('ALTER SYSTEM SET fsync = off')
  await kill()
  await start()
  await rejectsOpening(t, url,
    `${cannotBeUsed(url)} its fsync is off, so that a power cut could lose plants; set it to on and restart it.`)
})

t.test('check() notices at once that a database accepts writes again', async t => {
  const url = await server.database()
  const store = await open(t, url)
  const readOnly = `ALTER DATABASE ${databaseName(url)} SET default_transaction_read_only`
  await server.query(`${readOnly} = on`)
  await terminateConnections(url)
  const problem = 'it is read-only; SET default_transaction_read_only = off (ALTER SYSTEM, DATABASE or ROLE)'
  await t.rejects(store.check(), { message: causeOf(url, problem), cause: Error })
  await server.query(`${readOnly} = off`)
  await t.resolves(store.check())
})

t.test('a check that gets no connection keeps the one that stores plants', async t => {
  const url = await server.database()
  await (await open(t, url)).close()
  const role = databaseName(url)
  await server.query(`
    CREATE ROLE ${role} LOGIN PASSWORD 'secret' CONNECTION LIMIT 1;
    GRANT ALL ON plants, plants_schema TO ${role}
  `, url)
  t.teardown(() => server.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`, url))
  const store = await open(t, changeUrl(url, { username: role, password: 'secret' }))
  const connections = `SELECT pid FROM pg_stat_activity WHERE usename = '${role}'`
  const before = await server.query(connections)
  const other = new pg.Client(url)
  await other.connect()
  await other.query('BEGIN; LOCK TABLE plants')
  const adding = store.add({ id: 1n, name: 'fern' })
  const waiting = `${connections} AND wait_event_type = 'Lock'`
  while ((await server.query(waiting)).length === 0) await sleep(5)
  await t.rejects(store.check(), {
    message: causeOf(url, `too many connections for role "${role}"; raise max_connections, or the ` +
      'CONNECTION LIMIT of the role or the database, or end other clients')
  })
  await other.end()
  t.equal(await adding, 'added')
  t.equal(await store.add({ id: 2n, name: 'ivy' }), 'added')
  t.strictSame(await server.query(connections), before)
})

t.test('a database that refuses connections, of this user or of all, has a way out', async t => {
  const url = await server.database()
  const name = databaseName(url)
  await server.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret'; REVOKE CONNECT ON DATABASE ${name} FROM public`)
  t.teardown(() => server.query(`DROP ROLE ${name}`))
  await rejectsOpening(t, changeUrl(url, { username: name, password: 'secret' }),
    `${cannotBeUsed(url)} this user may not connect; GRANT CONNECT ON DATABASE to it.`)
  await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  await rejectsOpening(t, url,
    `${cannotBeUsed(url)} it lets nobody connect; use ALTER DATABASE ... ALLOW_CONNECTIONS true.`)
})

t.test('check() creates no tables in the place of lost ones', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await server.query('DROP TABLE plants, plants_schema', url)
  await t.rejects(store.check(), {
    message: causeOf(
      url, 'its table plants_schema is gone, and plants perhaps with it; ' +
        'restore them, or restart the service, which makes what is missing'
    )
  })
  t.strictSame(await server.query("SELECT to_regclass('plants')", url), [{ to_regclass: null }])
})

t.test('commits stay durable when the default of the database changes under a running service', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await createTrigger(url, "NEW.tag := current_setting('synchronous_commit'); RETURN NEW;")
  for (const [index, level] of ['off', 'local', 'remote_write', 'on', 'remote_apply'].entries()) {
    await server.query(`ALTER DATABASE ${databaseName(url)} SET synchronous_commit = ${level}`)
    await terminateConnections(url)
    if (level === 'off') await t.rejects(store.check(), { message: /synchronous_commit is off/ })
    t.equal(await store.add({ id: BigInt(index), name: level }), 'added')
  }
  t.strictSame((await all(store)).map(({ tag }) => tag), ['on', 'on', 'on', 'on', 'remote_apply'])
})

t.test('a session in which another program set synchronous_commit to off is accepted', async t => {
  const url = await server.database()
  const store = await open(t, url)
  // As a client of the same pooler does.
  await createTrigger(url, "PERFORM set_config('synchronous_commit', 'off', false); RETURN NEW;")
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  await t.resolves(store.check())
})

t.test('a session in which another program changed what names mean is accepted', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await createTrigger(url, `${changeSession} RETURN NEW;`)
  t.equal(await store.add({ id: 1n, name: 'fern', tag: 'a' }), 'added')
  await t.resolves(store.check())
  t.equal(await store.add({ id: 2n, name: 'fern', tag: 'a' }), 'added')
  t.equal(await store.add({ id: 2n, name: 'fern', tag: 'b' }), 'conflict')
  t.equal((await all(store)).length, 2)
})

t.test('a unique column other than the id fails a plant, and the log names the constraint', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await server.query('CREATE UNIQUE INDEX one_name ON plants (name)', url)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  const problem = 'duplicate key value violates unique constraint "one_name"; plants may share ' +
    'everything but the id: drop it (DROP INDEX, or ALTER TABLE plants DROP CONSTRAINT)'
  await t.rejects(store.add({ id: 2n, name: 'fern' }), {
    name: 'StoreUnavailable', cause: { message: causeOf(url, problem) }
  })
})

t.test('a plant that is neither added nor visible is an error', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await createTrigger(url, 'RETURN NULL;')
  await t.rejects(store.add({ id: 1n, name: 'fern' }), {
    name: 'StoreUnavailable',
    cause: /plant 1 was not added, and the database does not show it; remove the trigger or row/
  })
})

t.test('a warning of a trigger fails no call', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await createTrigger(url, "RAISE WARNING 'heed'; RETURN NEW;")
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
})

t.test('services that start together create the schema once, and a newer schema is refused', async t => {
  const url = await server.database()
  await Promise.all(Array.from({ length: 10 }, () => open(t, url)))
  t.strictSame(await server.query('SELECT * FROM plants_schema', url), [{ one: 1, version: newest }])
  await server.query('DROP TABLE plants_schema', url)
  await t.resolves(open(t, url), 'a table without a schema version is upgraded')
  await server.query(`UPDATE plants_schema SET version = ${newest + 1}`, url)
  await rejectsOpening(t, url,
    `${cannotBeUsed(url)} it was written by a newer version of this program ` +
    `(schema ${newest + 1}, known ${newest}); start the newer version.`)
  await server.query('DELETE FROM plants_schema', url)
  await t.resolves(open(t, url))
})

t.test('a migration that cannot run is named, and not the table', async t => {
  const url = await server.database()
  await server.query(`
    CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
      IF current_query() ~ 'plants\\s' THEN RAISE SQLSTATE '23502' USING MESSAGE = 'wrong'; END IF;
    END $$;
    CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION refuse()
  `, url)
  const problem = 'migration 1 failed (wrong); correct it in src/stores/postgres/columns.ts.'
  await rejectsOpening(t, url, `${cannotBeUsed(url)} ${problem}`)
})

t.test('a database of version 1.0.0 is used, and version 1.0.0 can use it meanwhile', async t => {
  const url = await server.database()
  await server.query(version1.create, url)
  await server.query(version1.insert('{1,2}', '{fern,fern}', '{NULL,tag}'), url)
  const store = await open(t, url)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'unchanged')
  t.equal(await store.add({ id: 2n, name: 'fern' }), 'conflict')
  t.equal(await store.add({ id: 3n, name: 'oak', tag: '' }), 'added')
  await server.query(version1.create, url)
  const added = await server.query(version1.insert('{3,4}', '{oak,ivy}', '{NULL,NULL}'), url)
  t.strictSame(added, [{ id: 4 }])
  t.equal(await store.add({ id: 4n, name: 'ivy' }), 'unchanged')
})

t.test('the owner of a table of version 1.0.0 can make the table of versions for its user', async t => {
  const url = await server.database()
  const role = databaseName(url)
  await server.query(version1.create, url)
  await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  t.teardown(() => server.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`, url))
  await server.query(`GRANT SELECT, INSERT ON plants TO ${role}`, url)
  const limited = changeUrl(url, { username: role, password: 'secret' })
  await rejectsOpening(t, limited, /permission denied for schema public; .*SQL for the owner/)
  await server.query(sqlOfOwner.replaceAll('service_user', role), url)
  t.equal(await (await open(t, limited)).add({ id: 1n, name: 'fern' }), 'added')
})

t.test('the SQL of the guide makes the tables that the service makes, for a user who may make none', async t => {
  const url = await server.database()
  const role = databaseName(url)
  await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  t.teardown(() => server.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`, url))
  const limited = changeUrl(url, { username: role, password: 'secret' })
  await rejectsOpening(t, limited, /permission denied for schema public; .*SQL for the owner/)
  await server.query(sqlOfOwner.replaceAll('service_user', role), url)
  t.equal(await (await open(t, limited)).add({ id: 1n, name: 'fern' }), 'added')
  const made = await describeTables(url)

  await server.query('DROP TABLE plants', url)
  await rejectsOpening(t, url, /"public.plants" does not exist; restore it, or make it by the SQL/)
  await server.query('DROP TABLE plants_schema', url)
  await (await open(t, url)).close()
  t.strictSame(await describeTables(url), made)
})

/** Columns and constraints of the tables, and the version. */
async function describeTables (url: string): Promise<unknown[]> {
  const columns = `SELECT attrelid::regclass::text, attname, format_type(atttypid, NULL), attnotnull
    FROM pg_attribute WHERE attnum > 0 AND attrelid::regclass::text ~ '^plants' ORDER BY 1, 2`
  const constraints = `SELECT conrelid::regclass::text, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE conrelid::regclass::text ~ '^plants' ORDER BY 1, 2`
  const queries = [columns, constraints, 'SELECT * FROM plants_schema']
  return Promise.all(queries.map(query => server.query(query, url)))
}

t.test('a user needs rights to the tables and the function that the store uses, and no others', async t => {
  const url = await server.database()
  await (await open(t, url)).close()
  const role = databaseName(url)
  await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  t.teardown(() => server.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`, url))
  const limited = changeUrl(url, { username: role, password: 'secret' })
  const denied = `${cannotBeUsed(url)} permission denied for`
  const remedy = 'grant the rights, or let the owner make the tables, by the SQL for the owner in ' +
    'docs/use/postgresql.md; remove triggers that need others'
  await rejectsOpening(t, limited, `${denied} table plants_schema; ${remedy}.`)

  await server.query(
    `GRANT SELECT ON plants_schema TO ${role}; GRANT SELECT, INSERT ON plants TO ${role}`, url
  )
  const store = await open(t, limited)
  const fern = { id: 1n, name: 'fern' }
  t.strictSame([await store.add(fern), await store.add(fern)], ['added', 'unchanged'])
  await store.close()

  const [emitMessage] = await server.query(`
    SELECT oid::regprocedure AS name FROM pg_proc
    WHERE proname = 'pg_logical_emit_message' AND proargtypes[2] = 'text'::regtype
  `, url)
  await server.query(`REVOKE EXECUTE ON FUNCTION ${emitMessage?.name} FROM PUBLIC`, url)
  await rejectsOpening(t, limited, `${denied} function pg_logical_emit_message; ${remedy}.`)
})

t.test('the store recovers without a restart after a failure of the database', async t => {
  const url = await server.database()
  const store = await open(t, url)
  await server.query('ALTER TABLE plants RENAME TO hidden', url)
  await t.rejects(store.add({ id: 1n, name: 'fern' }), {
    name: 'StoreUnavailable',
    message: 'The service could not confirm that the plant is stored. Sending the same plant again is safe.',
    cause: {
      message: causeOf(url, 'relation "public.plants" does not exist; restore it, or make it by ' +
        'the SQL for the owner in docs/use/postgresql.md; to let the service make it, empty, ' +
        'remove plants_schema'),
      cause: { code: '42P01' }
    }
  })
  await server.query('ALTER TABLE hidden RENAME TO plants', url)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  await t.resolves(store.check())
})
