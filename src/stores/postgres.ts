// The PostgreSQL engine: one statement adds a batch, and rows are never changed.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import type { Engine } from './group-commit.ts'

/** Milliseconds for a connection, for a statement, and for a call with all its retries. */
const timeoutsMs = { connection: 2000, statement: 5000, call: 8000 }
/** Milliseconds between two tries. */
const retryIntervalMs = 100

type Query = <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>

interface PlantRow { id: string, name: string, tag: string | null }

/**
 * Connects to a database and creates missing tables. Any number of services may share one database.
 * @param url postgres://user:password@host:port/database?options, or postgresql://
 * @throws Error that says why the database cannot be used
 */
export async function postgresEngine (url: string): Promise<Engine> {
  const pool = new pg.Pool({
    connectionString: url,
    // One batch is in flight; the others are for pages and checks.
    max: 3,
    connectionTimeoutMillis: timeoutsMs.connection,
    statement_timeout: timeoutsMs.statement,
    query_timeout: timeoutsMs.statement + 1000,
    application_name: 'plant-store',
    keepAlive: true
  })
  // The next query replaces an idle connection that was lost.
  pool.on('error', () => {})
  pool.on('connect', failOnWarnings)
  const query: Query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<Row>(text, values)).rows

  try {
    await retry(() => prepare(query, () => pool.connect()))
  } catch (error) {
    await pool.end()
    throw new Error(`The PostgreSQL database cannot be used: ${(error as Error).message}.`, { cause: error })
  }
  return {
    addMany: plants => retry(() => addMany(query, plants)),
    async page (from, limit) {
      const rows = await retry(() => query<PlantRow>(selectPage, [from, limit]))
      return rows.map(toPlant)
    },
    async count () {
      const [row] = await retry(() => query<{ count: string }>('SELECT count(*) FROM plants'))
      return Number(row?.count)
    },
    check: () => retry(() => prepare(query, () => pool.connect())),
    close: () => pool.end()
  }
}

/**
 * Fails a statement on any warning: a cancelled wait for the standby commits with only a warning.
 * Message texts and severities are translated, so the check uses SQLSTATE class 01.
 */
function failOnWarnings (client: pg.PoolClient): void {
  // pool.query() listens only during its statement; without this listener a later error ends the process.
  client.on('error', () => {})
  client.on('notice', ({ code, routine, message }) => {
    if (code?.startsWith('01') && !harmlessRoutines.includes(routine)) client.emit('error', new PermanentError(message))
  })
}

/** Functions of PostgreSQL with other warnings: RAISE WARNING in a trigger, and transaction ids that run low. */
const harmlessRoutines: Array<string | undefined> = ['exec_stmt_raise', 'GetNewTransactionId']

/** A permanent error: do not retry. */
class PermanentError extends Error {}

/** Checks that the database can promise durable commits of any text, and creates missing tables. */
async function prepare (query: Query, connect: () => Promise<pg.PoolClient>): Promise<void> {
  const [settings] = await query<{ commit: string, encoding: string, readOnly: string }>(readSettings)
  if (settings?.commit === 'off') {
    const remedy = 'set it to on for this user or database'
    throw new PermanentError(`its synchronous_commit is off, so that a commit could be lost; ${remedy}`)
  }
  if (settings?.encoding !== 'UTF8') {
    const remedy = "create the database with ENCODING 'UTF8'"
    throw new PermanentError(`its encoding is ${settings?.encoding}, which cannot hold all text; ${remedy}`)
  }
  if (settings.readOnly === 'on') throw new PermanentError('it is read-only')
  // Read before migrating: a user with rights on the tables may lack the right to create them.
  if (await schemaVersion(query) !== migrations.length) await migrate(connect)
  // LIMIT 0 checks the rights and runs nothing.
  await query(`${selectExisting} LIMIT 0`, [[], false])
}

const readSettings = `SELECT current_setting('synchronous_commit') AS commit,
  current_setting('server_encoding') AS encoding, current_setting('transaction_read_only') AS "readOnly"`

/** Each migration upgrades the schema from the version that is its index. */
const migrations = ['CREATE TABLE IF NOT EXISTS plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)']

/** The version of the schema; 0 without one. */
async function schemaVersion (query: Query): Promise<number> {
  try {
    const [row] = await query<{ version: number }>('SELECT version FROM plants_schema')
    return row?.version ?? 0
  } catch (error) {
    if (codeOf(error) !== undefinedTable) throw error
    return 0
  }
}

/** Upgrades the schema to the last version. Services that start together take turns: each locks the version's row. */
async function migrate (connect: () => Promise<pg.PoolClient>): Promise<void> {
  const client = await connect()
  try {
    await client.query('CREATE TABLE IF NOT EXISTS plants_schema (one integer PRIMARY KEY, version integer NOT NULL)')
    await client.query('INSERT INTO plants_schema VALUES (1, 0) ON CONFLICT DO NOTHING')
    await client.query('BEGIN')
    const { rows: [{ version }] } = await client.query('SELECT version FROM plants_schema WHERE one = 1 FOR UPDATE')
    if (version > migrations.length) {
      const versions = `schema ${version}, known ${migrations.length}`
      throw new PermanentError(`it was written by a newer version of this program (${versions})`)
    }
    for (const migration of migrations.slice(version)) await client.query(migration)
    await client.query('UPDATE plants_schema SET version = $1 WHERE one = 1', [migrations.length])
    await client.query('COMMIT')
    client.release()
  } catch (error) {
    // The connection may be inside a transaction: drop it.
    client.release(true)
    throw error
  }
}

/** Retries transient errors until the timeout. Every call is idempotent, so an unknown outcome is safe to retry. */
async function retry<Result> (work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + timeoutsMs.call
  for (;;) {
    try {
      return await withTimeout(until - performance.now(), work())
    } catch (error) {
      if (!isTransient(error) || performance.now() + retryIntervalMs > until) throw error
      await sleep(retryIntervalMs)
    }
  }
}

/** Rejects after a timeout. The work may still finish; that is safe, because every call is idempotent. */
async function withTimeout<Result> (milliseconds: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('timeout: the database did not respond in time')), milliseconds)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** A lost or refused connection, a restart, a failover, or a conflict between two transactions. */
function isTransient (error: unknown): boolean {
  if (error instanceof PermanentError) return false
  // Errors of the server carry a SQLSTATE of five characters; errors of the connection another code or none.
  const code = codeOf(error) ?? ''
  const isOfServer = /^[0-9A-Z]{5}$/.test(code)
  return !isOfServer || /^(?:08|40|57P)/.test(code) || [readOnly, ...concurrentCreation].includes(code)
}

const undefinedTable = '42P01'
/** A standby, or the former primary of a failover: the pool connects again, and may reach the new primary. */
const readOnly = '25006'
/** Two services create a table at the same moment: PostgreSQL reports a duplicate row, type or table. */
const concurrentCreation = ['23505', '42710', '42P07']

function codeOf (error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/**
 * 'off', 'local' and 'remote_write' can lose a commit; 'remote_apply' is stronger than 'on'. Set it per transaction:
 * behind a pooler the next transaction may run on another connection.
 */
const setSynchronousCommit = `set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)`

const insertPlants = `INSERT INTO plants (id, name, tag)
  SELECT added.* FROM ${setSynchronousCommit}, unnest($1::bigint[], $2::text[], $3::text[]) AS added
  ON CONFLICT DO NOTHING RETURNING id`

/**
 * After a crash a row may be visible that no standby has. The message makes this statement a commit, which waits for
 * the standby. An INSERT that added rows ($2) has waited already. FOR KEY SHARE would need the right to UPDATE.
 */
const selectExisting = `SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])
  AND ($2 OR (SELECT ${setSynchronousCommit} <> '' AND pg_logical_emit_message(true, 'plant-store', '') IS NOT NULL))`

/**
 * Adds the first plant of each id, and compares all others with the stored ones.
 * Sorted ids prevent deadlocks between services that add the same ids.
 */
async function addMany (query: Query, plants: readonly NewPlant[]): Promise<Outcome[]> {
  const plantById = new Map<bigint, NewPlant>()
  for (const plant of plants) if (!plantById.has(plant.id)) plantById.set(plant.id, plant)
  const firstOfEachId = [...plantById.values()].sort((a, b) => a.id < b.id ? -1 : 1)
  const inserted = await query<{ id: string }>(insertPlants, [
    firstOfEachId.map(({ id }) => id),
    firstOfEachId.map(({ name }) => name),
    firstOfEachId.map(({ tag = null }) => tag)
  ])
  const added = new Set(inserted.map(({ id }) => BigInt(id)))
  const existingIds = firstOfEachId.filter(({ id }) => !added.has(id)).map(({ id }) => id)
  if (existingIds.length > 0) {
    const rows = await query<PlantRow>(selectExisting, [existingIds, added.size > 0])
    for (const row of rows) plantById.set(BigInt(row.id), toPlant(row))
    if (rows.length < existingIds.length) throw hiddenPlantError(existingIds, rows)
  }
  return plants.map(plant => {
    // Only the first plant of an added id is 'added'; repetitions in the batch compare with it.
    if (added.delete(plant.id)) return 'added'
    const { name, tag } = plantById.get(plant.id) as NewPlant
    return name === plant.name && tag === plant.tag ? 'unchanged' : 'conflict'
  })
}

const selectPage = 'SELECT id, name, tag FROM plants WHERE id >= $1 ORDER BY id LIMIT $2'

/** A trigger or a row policy hides the plant, or a failover between the two statements lost it. */
function hiddenPlantError (ids: bigint[], rows: PlantRow[]): Error {
  const found = new Set(rows.map(({ id }) => BigInt(id)))
  return new PermanentError(`plant ${ids.find(id => !found.has(id))} was not added, and the database does not show it`)
}

function toPlant ({ id, name, tag }: PlantRow): NewPlant {
  return tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag }
}
