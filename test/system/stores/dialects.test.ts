// CockroachDB, YugabyteDB and Citus. None of them runs here: these tests replay what their
// documentation and their sources say that they answer. A real PostgreSQL shows only that the
// statements for them are valid, and what they do there.
import t, { type Test } from 'tap'
import type { NewPlant, PlantStore } from '../../../src/plants/plant-store.ts'
import { openStore } from '../../../src/stores/open.ts'
import {
  type FakePostgres, type Reply, type Report, type Script, startFakePostgres, type Statement
} from '../../fixtures/fake-postgres.ts'
import { all } from '../../fixtures/plant-store-suite.ts'
import { startOwnPostgres, startPostgres } from '../../fixtures/postgres.ts'

interface Kin {
  /** What version() returns. */
  version: string
  hasCitus: boolean
  /** The version in plants_schema, as the type that `integer` is. */
  schema: number | bigint
  /** The columns of plants. */
  columns: string[]
}

// CockroachDB docs, "Upgrade": SELECT version(). "INT", section "Names and Aliases": INTEGER has 64
// bits. "Index Sequential Keys with Hash-sharded Indexes": the primary key has a hidden column.
const cockroach: Kin = {
  version: 'CockroachDB CCL v23.1.2 (x86_64-apple-darwin19, built 2023/05/25 16:10:39, go1.19.4)',
  hasCitus: false,
  schema: 1n,
  columns: ['id', 'name', 'tag', 'crdb_internal_id_shard_16']
}
// yugabyte-db, docs/content: the output of SELECT version() in the page of ysqlsh and in release
// notes.
const yugabyte: Kin = {
  version: 'PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, 64-bit',
  hasCitus: false,
  schema: 1,
  columns: ['id', 'name', 'tag']
}
// Citus is an extension: version() is PostgreSQL's.
const citus: Kin = {
  version: 'PostgreSQL 17.5 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',
  hasCitus: true,
  schema: 1,
  columns: ['id', 'name', 'tag']
}
const everyKin = Object.entries({ CockroachDB: cockroach, YugabyteDB: yugabyte, Citus: citus })

const fern = { id: 1n, name: 'fern' }

/**
 * A reply to an INSERT of plants. `stores`: the plants are stored although the reply does not say
 * so.
 */
type Surprise = Reply & { stores?: boolean }

/**
 * Answers as one of the kin with an up-to-date schema. The first INSERTs of plants get the
 * surprises.
 */
function answersOf (kin: Kin, surprises: Surprise[] = []): Script['answer'] {
  const names = new Map<bigint, string>()
  function insert (ids: bigint[], [, inserted = '{}']: string[]): Reply {
    const surprise = ids.length > 0 ? surprises.shift() : undefined
    const added = ids.filter(id => !names.has(id))
    if (surprise === undefined || surprise.stores === true) {
      for (const id of added) names.set(id, listOf(inserted)[ids.indexOf(id)] as string)
    }
    return surprise ?? { rows: added.map(id => ({ id })) }
  }
  return ({ text, values }) => {
    const ids = listOf(values[0] ?? '{}').map(BigInt)
    if (text.includes('pg_logical_emit_message') && !kin.hasCitus) return { error: unknownFunction }
    if (text.startsWith('SELECT version()')) return { rows: [settingsOf(kin)] }
    if (text.includes('pg_attribute')) {
      return {
        rows: kin.columns.map(
          name => ({ name, type: ['name', 'tag'].includes(name) ? 'text' : 'bigint' })
        )
      }
    }
    if (text.includes('FROM plants_schema')) return { rows: [{ version: kin.schema }] }
    if (text.startsWith('INSERT INTO plants ')) return insert(ids, values)
    if (text.includes('id = ANY')) {
      return {
        rows: ids.filter(id => names.has(id)).map(
          id => ({ id, name: names.get(id) as string, tag: null })
        )
      }
    }
    return {}
  }
}

function settingsOf ({ version, hasCitus }: Kin) {
  return { version, hasCitus, commit: 'on', encoding: 'UTF8', readOnly: 'off' }
}

// CockroachDB docs, "Functions and Operators", lists no such function.
const unknownFunction: Report = {
  code: '42883', message: 'unknown function: pg_logical_emit_message()'
}

/** The items of an array parameter, such as {"1","2"}. */
function listOf (array: string): string[] {
  return JSON.parse(`[${array.slice(1, -1)}]`).map(String)
}

async function open (t: Test, url: string): Promise<PlantStore> {
  const store = await openStore(url, { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
}

/** Opens a store on a fake server of this kind. */
async function replay (
  t: Test, kin: Kin, surprises?: Surprise[]
): Promise<FakePostgres & { store: PlantStore }> {
  const server = await startFakePostgres(t, { answer: answersOf(kin, surprises) })
  return { ...server, store: await open(t, server.url) }
}

/** How often the store tried to add a plant. */
function tries (statements: Statement[]): number {
  return statements.filter(
    ({ text, values }) => text.startsWith('INSERT INTO plants ') && values[0] !== '{}'
  ).length
}

for (const [name, kin] of everyKin) {
  t.test(`replay of ${name}: a plant is added, unchanged and in conflict`, async t => {
    const { store, statements } = await replay(t, kin)
    t.strictSame(
      [await store.add(fern), await store.add(fern), await store.add({ id: 1n, name: 'oak' })],
      ['added', 'unchanged', 'conflict']
    )
    await t.resolves(store.check())
    const texts = statements.map(({ text }) => text).join(';')
    // CockroachDB warns that synchronous_commit is a no-op: docs, "Migrate Data from
    // OpenStreetMap".
    t.equal(texts.includes('set_config') && texts.includes('pg_logical_emit_message'), kin.hasCitus)
    t.notMatch(texts, /CREATE|BEGIN|COMMIT/, 'no schema change while the schema is up to date')
  })

  // CockroachDB docs, "Online Schema Changes": no schema changes within explicit transactions.
  t.test(`replay of ${name}: missing tables are created, each in a statement without a transaction`, async t => {
    const answer = answersOf(kin)
    let exists = false
    const { url, statements } = await startFakePostgres(t, {
      answer (statement) {
        if (statement.text.startsWith('CREATE TABLE IF NOT EXISTS plants ')) exists = true
        if (exists) return answer(statement)
        if (statement.text.includes('pg_attribute')) return {}
        if (!statement.text.includes('FROM plants_schema')) return answer(statement)
        return { error: { code: '42P01', message: 'relation "plants_schema" does not exist' } }
      }
    })
    t.equal(await (await open(t, url)).add(fern), 'added')
    const changes = statements.map(({ text }) => text.split(' ').slice(0, 6).join(' '))
      .filter(text => /^(?:CREATE|BEGIN|COMMIT)/.test(text))
    t.strictSame(
      changes, ['CREATE TABLE IF NOT EXISTS plants_schema', 'CREATE TABLE IF NOT EXISTS plants']
    )
  })
}

/** Errors after which the same statement can succeed. */
const transient: Array<[source: string, name: string, kin: Kin, error: Report]> = [
  ['docs, "Transaction Retry Error Reference", RETRY_SERIALIZABLE', 'CockroachDB', cockroach, {
    code: '40001',
    message: 'restart transaction: TransactionRetryWithProtoRefreshError: TransactionRetryError: retry txn ' +
      '(RETRY_SERIALIZABLE - failed preemptive refresh due to conflicting locks on /Table/106/1/918951292305080321/0)'
  }],
  ['docs, "Transaction Retry Error Reference", RETRY_WRITE_TOO_OLD', 'CockroachDB', cockroach, {
    code: '40001', message: 'TransactionRetryWithProtoRefreshError: ... RETRY_WRITE_TOO_OLD ...'
  }],
  ['docs, "Transaction Retry Error Reference", ABORT_REASON_ABORTED_RECORD_FOUND', 'CockroachDB', cockroach, {
    code: '40001',
    message: 'TransactionRetryWithProtoRefreshError:TransactionAbortedError(ABORT_REASON_ABORTED_RECORD_FOUND) ...'
  }],
  ['docs, "Common Errors and Solutions", "result is ambiguous"', 'CockroachDB', cockroach, {
    code: '40003', message: 'result is ambiguous'
  }],
  ['pkg/sql/pgwire/pgcode/codes.go, RangeUnavailable; pkg/sql/sqlerrors/errors.go', 'CockroachDB', cockroach, {
    code: '58C00', message: 'key range id:1 is unavailable'
  }],
  ['pkg/sql/pgwire/pgcode/codes.go, InternalConnectionFailure; it gives no message', 'CockroachDB', cockroach, {
    code: '58C01', message: 'InternalConnectionFailure'
  }],
  ['docs, "Transaction error codes in YSQL", 40001', 'YugabyteDB', yugabyte, {
    code: '40001', message: 'could not serialize access due to concurrent update (...)'
  }],
  ['docs, "Transaction error codes in YSQL", 40P01', 'YugabyteDB', yugabyte, {
    code: '40P01', message: 'deadlock detected (...)'
  }],
  ['docs, "YSQL issues", "Catalog version mismatch"', 'YugabyteDB', yugabyte, {
    code: '40001',
    message: 'The catalog snapshot used for this transaction has been invalidated: expected: 15552, got: 15550: ' +
      'MISMATCHED_SCHEMA'
  }],
  ['docs, "Read Restart error"; the code is that of issue 13905', 'YugabyteDB', yugabyte, {
    code: 'XX000', message: 'Query error: Restart read required at: { read: { physical: 1656351408684482 } ... }'
  }],
  ['issue 18413; the code is that of issue 23949', 'YugabyteDB', yugabyte, {
    code: 'XX000', message: 'schema version mismatch for table 000033f5000030008000000000004000: expected 1, got 0'
  }],
  ['issue 22096; the code is that of issue 10517', 'YugabyteDB', yugabyte, {
    code: 'XX000', message: 'Write RPC (request call id 1015200) to 172.151.26.36:9100 timed out after 12.046s'
  }],
  ['issue 10517', 'YugabyteDB', yugabyte, {
    code: 'XX000', message: 'Timed out: ... passed its deadline: Illegal state (yb/tserver/service_util.h:137)'
  }],
  ['issue 19032, which gives no code', 'YugabyteDB', yugabyte, {
    code: 'XX000', message: 'Operation failed. Try again (yb/docdb/lock_batch.cc:42): Flush: Failed to obtain locks'
  }],
  ['docs, "Common Error Messages", "Could not receive query results"; code: remote_commands.c', 'Citus', citus, {
    code: '08006',
    message: 'connection to the remote node localhost:5432 failed with the following error: could not connect to server'
  }],
  ['docs, "Common Error Messages", distributed deadlock; code: shared_library_init.c', 'Citus', citus, {
    code: '40P01', message: 'canceling the transaction since it was involved in a distributed deadlock'
  }],
  ['citus_custom_scan.c, while a shard is split', 'Citus', citus, {
    code: '40001', message: 'shard for the given value does not exist'
  }],
  ['metadata_cache.c, on a coordinator that is a standby', 'Citus', citus, {
    code: '25006', message: 'writing to worker nodes is not currently allowed'
  }]
]

for (const [source, name, kin, error] of transient) {
  t.test(`replay of ${name}: ${error.code} is retried (${source})`, async t => {
    const { store, statements } = await replay(t, kin, [{ error }, { error }])
    t.equal(await store.add(fern), 'added')
    t.equal(tries(statements), 3)
  })
}

// CockroachDB docs, "Common Errors and Solutions", "result is ambiguous": the statement may have
// committed.
t.test('replay of CockroachDB: an ambiguous result of a commit that happened ends as unchanged', async t => {
  const { store, statements } = await replay(t, cockroach, [
    { error: { code: '40003', message: 'result is ambiguous' }, stores: true }
  ])
  t.equal(await store.add(fern), 'unchanged')
  t.equal(tries(statements), 2)
})

// CockroachDB docs, "Node Shutdown", "Draining"; messages and codes: pkg/sql/pgwire/server.go.
t.test('replay of CockroachDB: a node that drains is left, and a refused connection is retried', async t => {
  const closing: Report = { code: '57P01', message: 'server is shutting down', severity: 'FATAL' }
  const refusals: Report[] = []
  const answer = answersOf(cockroach, [{ error: closing, then: 'disconnect' }])
  const { url, statements } = await startFakePostgres(t, { answer, refuse: () => refusals.shift() })
  const store = await open(t, url)
  refusals.push(
    {
      code: '57P01', message: 'server is not accepting clients, try another node', severity: 'FATAL'
    }
  )
  t.equal(await store.add(fern), 'added')
  t.equal(tries(statements), 2)
  t.strictSame(refusals, [])
})

/** Errors that a retry does not end. */
const permanent: Array<[source: string, name: string, kin: Kin, error: Report]> = [
  ['docs, "CANCEL QUERY", "Response"', 'CockroachDB', cockroach, {
    code: '57014', message: 'query execution canceled'
  }],
  ['docs, "Common Errors and Solutions", "memory budget exceeded"', 'CockroachDB', cockroach, {
    code: '53200', message: 'memory budget exceeded'
  }],
  ['issue 4256', 'YugabyteDB', yugabyte, {
    code: '0A000', message: 'This statement not supported yet'
  }],
  ['docs, "Transaction retries in YSQL", "Client-side retry": no retry of internal errors', 'YugabyteDB', yugabyte, {
    code: 'XX000', message: 'unexpected internal error'
  }],
  ['docs, "Common Error Messages", "Remaining connection slots ..."', 'Citus', citus, {
    code: '53300', message: 'remaining connection slots are reserved for non-replication superuser connections'
  }],
  ['docs, "Common Error Messages", "Could not connect to any active placements"', 'Citus', citus, {
    code: 'XX000', message: 'could not connect to any active placements'
  }]
]

for (const [source, name, kin, error] of permanent) {
  t.test(`replay of ${name}: ${error.code} fails at once (${source})`, async t => {
    const { store, statements } = await replay(t, kin, [{ error }])
    await t.rejects(
      store.add(fern), { name: 'StoreUnavailable', cause: { message: error.message } }
    )
    t.equal(tries(statements), 1)
    t.equal(await store.add(fern), 'added', 'the next call succeeds')
  })
}

/** Notices that come with a statement that succeeded. */
const notices: Array<[source: string, name: string, kin: Kin, notice: Report, outcome: string]> = [
  // The code of all its notices: pkg/sql/pgwire/pgnotice/pgnotice.go.
  ['docs, "Migrate Data from OpenStreetMap"', 'CockroachDB', cockroach, {
    severity: 'WARNING', code: '00000', message: 'setting session var "synchronous_commit" is a no-op'
  }, 'added'],
  ['docs, "Transaction error codes in YSQL", 25001', 'YugabyteDB', yugabyte, {
    severity: 'WARNING', code: '25001', message: 'there is already a transaction in progress'
  }, 'added'],
  ['remote_commands.c: a connection that is not needed', 'Citus', citus, {
    severity: 'WARNING', code: '08006', message: 'connection to the remote node plants@worker:5432 failed'
  }, 'added'],
  ['remote_transaction.c: COMMIT PREPARED failed on a worker', 'Citus', citus, {
    severity: 'WARNING', code: '01000', message: 'failed to commit transaction on worker:5432'
  }, 'StoreUnavailable'],
  ['worker_log_messages.c: a worker stopped to wait for its standby', 'Citus', citus, {
    severity: 'WARNING', code: '01000', message: 'canceling wait for synchronous replication due to user request'
  }, 'StoreUnavailable']
]

for (const [source, name, kin, notice, outcome] of notices) {
  t.test(`replay of ${name}: a WARNING ${notice.code} ends as ${outcome} (${source})`, async t => {
    const { store } = await replay(
      t, kin, [{ notices: [notice], rows: [{ id: 1n }], stores: true }]
    )
    t.equal(await store.add(fern).catch(error => error.name), outcome)
    t.equal(await store.add(fern), 'unchanged')
  })
}

// CockroachDB docs, "CANCEL QUERY", "Considerations": it supports cancellation by drivers, over
// another connection.
t.test('replay of CockroachDB: a statement that does not end is cancelled and retried', async t => {
  const { store, statements, cancelRequests } = await replay(t, cockroach, [{ then: 'hang' }])
  t.equal(await store.add(fern), 'added')
  t.strictSame([tries(statements), cancelRequests()], [2, 1])
})

t.test('replay of Citus and YugabyteDB: synchronous_commit = off is refused where it can lose commits', async t => {
  const isOff = (kin: Kin): Script['answer'] => {
    const answer = answersOf(kin)
    return statement => statement.text.startsWith('SELECT version()')
      ? { rows: [{ ...settingsOf(kin), commit: 'off' }] }
      : answer(statement)
  }
  const [onCitus, onYugabyte] = await Promise.all([citus, yugabyte].map(kin => {
    return startFakePostgres(t, { answer: isOff(kin) })
  })) as [FakePostgres, FakePostgres]
  await t.rejects(openStore(onCitus.url, { maxQueue: 1 }), { message: /synchronous_commit is off/ })
  await t.resolves(open(t, onYugabyte.url))
})

// CockroachDB docs, "INT", section "Considerations for 64-bit signed integers": the version arrives
// as a string.
t.test('replay of CockroachDB: a startup that was interrupted before its last statement is completed', async t => {
  const { url, statements } = await startFakePostgres(
    t, { answer: answersOf({ ...cockroach, schema: 0n }) }
  )
  await open(t, url)
  t.strictSame(
    statements.find(({ text }) => text.startsWith('UPDATE plants_schema'))?.values, ['1']
  )
})

// Citus, query_pushdown_planning.c: on a worker, a subquery without FROM may have only immutable
// functions. Issue 5887: functions among the selected columns run on the shards.
t.test('replay of Citus: the message for the standby is written where the row is', async t => {
  const { store, statements } = await replay(t, citus)
  t.strictSame([await store.add(fern), await store.add(fern)], ['added', 'unchanged'])
  const columns = statements.at(-1)?.text.split(' FROM plants')[0]
  t.match(columns, /^SELECT id, name, tag, set_config\(.*, pg_logical_emit_message\(true, .*\)$/s)
})

const server = await startPostgres(t)

/** SQL that lets a database of a real PostgreSQL call itself one of the kin. */
const disguise = ({ version, hasCitus }: Kin, database: string): string => `
  CREATE SCHEMA disguise;
  CREATE FUNCTION disguise.version() RETURNS text LANGUAGE sql AS $$ SELECT '${version}' $$;
  CREATE VIEW disguise.pg_extension AS SELECT 'citus' AS extname WHERE ${hasCitus};
  ALTER DATABASE ${database} SET search_path = disguise, pg_catalog, public`

async function disguised (kin: Kin): Promise<string> {
  const url = await server.database()
  await server.query(disguise(kin, new URL(url).pathname.slice(1)), url)
  return url
}

for (const [name, kin] of everyKin) {
  t.test(`PostgreSQL accepts the statements for ${name}`, async t => {
    const store = await open(t, await disguised(kin))
    const ivy = { id: -1n, name: 'ivy', tag: 'a' }
    const addTogether = (...plants: NewPlant[]) => Promise.all(
      plants.map(plant => store.add(plant))
    )
    t.strictSame(await addTogether(fern, ivy, fern), ['added', 'added', 'unchanged'])
    t.strictSame(
      await addTogether({ ...ivy, tag: '' }, fern, { id: 2n, name: '' }),
      ['conflict', 'unchanged', 'added']
    )
    t.strictSame(await all(store), [ivy, fern, { id: 2n, name: '' }])
    t.equal(await store.count(), 3)
    await t.resolves(store.check())
  })
}

t.test('on PostgreSQL the statement for Citus waits for the standby', async t => {
  const server = await startOwnPostgres(t)
  await server.query(disguise(citus, new URL(server.url).pathname.slice(1)))
  const store = await open(t, server.url)
  t.equal(await store.add(fern), 'added')
  await server.query('ALTER ROLE test SET synchronous_commit = local')
  await server.requireStandby('nobody')
  const adding = store.add(fern)
  await server.commitWaits()
  await server.requireNoStandby()
  t.equal(await adding, 'unchanged')
})
