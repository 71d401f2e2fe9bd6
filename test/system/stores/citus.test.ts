// Citus. These tests replay what its documentation and its sources say that it answers; a real
// PostgreSQL shows that the statements are valid, and what they do there. `npm run prove -- citus`
// runs a real cluster.
import t, { type Test } from 'tap'
import type { PlantStore } from '../../../src/plants/plant-store.ts'
import { openStore } from '../../../src/stores/open.ts'
import { columnNames, columns, newest } from '../../../src/stores/postgres/columns.ts'
import {
  type Answer, type FakePostgres, type Reply, type Report, startFakePostgres, type Statement
} from '../../fixtures/fake-postgres.ts'
import { plantStoreSuite } from '../../fixtures/plant-store-suite.ts'
import { startOwnPostgres, startPostgres } from '../../fixtures/postgres.ts'

// The test of docs/build/add-a-member.md runs this file without the limit of package.json.
t.setTimeout(120_000)

const fern = { id: 1n, name: 'fern' }

/**
 * A reply to an INSERT of plants. `stores`: the plants are stored although the reply does not say
 * so.
 */
type Surprise = Reply & { stores?: boolean }

const settings = {
  hasCitus: true, schema: 'public', ambiguous: null, elsewhere: null, commit: 'on', encoding: 'UTF8', readOnly: 'off'
}
const columnCount = Object.keys(columns).length
const noMembers = Object.fromEntries(Object.keys(columns).map(name => [name, null]))

/**
 * Answers as a coordinator with an up-to-date schema. The first INSERTs of plants get the
 * surprises.
 */
function answersOf (surprises: Surprise[]): Answer {
  const names = new Map<bigint, string>()
  function insert (values: string[]): Reply {
    const surprise = surprises.shift()
    const ids = values.filter((_, index) => index % columnCount === 0).map(BigInt)
    const added = ids.filter(id => !names.has(id))
    if (surprise === undefined || surprise.stores === true) {
      for (const id of added) names.set(id, values[columnCount * ids.indexOf(id) + 1] as string)
    }
    return surprise ?? { rows: added.map(id => ({ id })) }
  }
  return ({ text, values }) => {
    if (text.includes('pg_extension')) return { rows: [settings] }
    if (text.includes('pg_attribute')) {
      return { rows: Object.entries(columns).map(([name, { type }]) => ({ name, type })) }
    }
    if (text.includes('FROM public.plants_schema')) return { rows: [{ version: newest }] }
    if (isInsert(text)) return insert(values)
    if (!text.includes('id = ANY')) return {}
    const ids: bigint[] = JSON.parse(`[${values[0]?.slice(1, -1)}]`).map(BigInt)
    const stored = ids.filter(id => names.has(id))
    return { rows: stored.map(id => ({ ...noMembers, id, name: names.get(id) as string })) }
  }
}

const isInsert = (text: string) => /^INSERT INTO public\.plants .* VALUES /.test(text)

async function open (t: Test, url: string): Promise<PlantStore> {
  const store = await openStore(url, { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
}

/** Opens a store on a fake coordinator. */
async function replay (
  t: Test, surprises: Surprise[] = []
): Promise<FakePostgres & { store: PlantStore }> {
  const server = await startFakePostgres(t, answersOf(surprises))
  return { ...server, store: await open(t, server.url) }
}

/** How often the store tried to add a plant. */
function tries (statements: Statement[]): number {
  return statements.filter(({ text }) => isInsert(text)).length
}

/** Errors after which the same statement can succeed. */
const transient: Array<[source: string, error: Report]> = [
  ['docs, "Common Error Messages", "Could not receive query results"; code: remote_commands.c', {
    code: '08006',
    message: 'connection to the remote node localhost:5432 failed with the ' +
      'following error: could not connect to server'
  }],
  ['docs, "Common Error Messages", distributed deadlock; code: shared_library_init.c', {
    code: '40P01',
    message: 'canceling the transaction since it was involved in a distributed deadlock'
  }],
  ['citus_custom_scan.c, while a shard is split', {
    code: '40001', message: 'shard for the given value does not exist'
  }],
  ['metadata_cache.c, on a coordinator that is a standby', {
    code: '25006', message: 'writing to worker nodes is not currently allowed'
  }]
]

for (const [source, error] of transient) {
  t.test(`${error.code} is retried (${source})`, async t => {
    const { store, statements } = await replay(t, [{ error }, { error }])
    t.equal(await store.add(fern), 'added')
    t.equal(tries(statements), 3)
  })
}

/** Errors that a retry does not end. */
const permanent: Array<[source: string, error: Report]> = [
  ['docs, "Common Error Messages", "Remaining connection slots ..."', {
    code: '53300',
    message: 'remaining connection slots are reserved for non-replication superuser connections'
  }],
  ['docs, "Common Error Messages", "Could not connect to any active placements"', {
    code: 'XX000', message: 'could not connect to any active placements'
  }]
]

for (const [source, error] of permanent) {
  t.test(`${error.code} fails at once (${source})`, async t => {
    const { store, statements } = await replay(t, [{ error }])
    await t.rejects(
      store.add(fern), { name: 'StoreUnavailable', cause: { cause: { message: error.message } } }
    )
    t.equal(tries(statements), 1)
    t.equal(await store.add(fern), 'added', 'the next call succeeds')
  })
}

/** Notices that come with a statement that succeeded. */
const notices: Array<[source: string, notice: Report, outcome: string]> = [
  ['remote_commands.c: a connection that is not needed', {
    severity: 'WARNING',
    code: '08006',
    message: 'connection to the remote node plants@worker:5432 failed'
  }, 'added'],
  ['remote_transaction.c: COMMIT PREPARED failed on a worker', {
    severity: 'WARNING', code: '01000', message: 'failed to commit transaction on worker:5432'
  }, 'StoreUnavailable'],
  ['worker_log_messages.c: a worker stopped to wait for its standby', {
    severity: 'WARNING',
    code: '01000',
    message: 'canceling wait for synchronous replication due to user request'
  }, 'StoreUnavailable']
]

for (const [source, notice, outcome] of notices) {
  t.test(`a WARNING ${notice.code} ends as ${outcome} (${source})`, async t => {
    const { store } = await replay(t, [{ notices: [notice], rows: [{ id: 1n }], stores: true }])
    t.equal(await store.add(fern).catch(error => error.name), outcome)
    t.equal(await store.add(fern), 'unchanged')
  })
}

// Citus, query_pushdown_planning.c: on a worker, a subquery without FROM may have only immutable
// functions. Issue 5887: functions among the selected columns run on the shards.
t.test('the message for the standby is written where the row is', async t => {
  const { store, statements } = await replay(t)
  t.strictSame([await store.add(fern), await store.add(fern)], ['added', 'unchanged'])
  t.notOk(statements.some(({ text }) => text.startsWith('DO')), 'startup tries no plants')
  const selected = statements.at(-1)?.text.split(/\s+FROM public.plants/)[0] ?? ''
  t.ok(selected.startsWith(`SELECT ${columnNames}, set_config(`), selected)
  t.match(selected, /, pg_logical_emit_message\(true, .*\)$/s)
})

const server = await startPostgres(t)

/** SQL that lets a database of a real PostgreSQL seem to have Citus. */
const disguise = `INSERT INTO pg_extension
  (oid, extname, extowner, extnamespace, extrelocatable, extversion)
  VALUES (1, 'citus', 10, 'pg_catalog'::regnamespace, false, '')`

t.test('PostgreSQL accepts the statements', async t => {
  plantStoreSuite(t, async t => {
    const url = await server.database()
    await server.query(disguise, url)
    return open(t, url)
  })
})

t.test('on PostgreSQL both statements wait for the standby', async t => {
  const server = await startOwnPostgres(t)
  await server.query(disguise)
  const store = await open(t, server.url)
  await server.query('ALTER ROLE test SET synchronous_commit = local')
  for (const [outcome, statement] of [['added', / VALUES /], ['unchanged', /^SELECT [^(]*, set_config/]] as const) {
    await server.requireStandby('nobody')
    const adding = store.add(fern)
    await server.commitWaits()
    const waiting = await server.query("SELECT query FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    t.match(waiting, [{ query: statement }])
    await server.requireNoStandby()
    t.equal(await adding, outcome)
  }
})
