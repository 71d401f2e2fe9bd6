// PostgreSQL, and what speaks its language: one statement adds a batch, in portable SQL, and no row is ever changed.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import type { Engine } from './group-commit.ts'

/** Milliseconds: for a connection, for a statement (both at the server and here), and for a call with all its retries. */
const deadlines = { connection: 2000, statement: 5000, call: 8000 }

type Query = (text: string, values?: unknown[]) => Promise<Row[]>

interface Row { id: string, name: string, tag: string | null }

/**
 * Connects to a database, and where needed makes its tables. Any number of services may share one.
 * @param url postgres://user:password@host:port/database?options, or postgresql://
 * @throws Error that says why the database cannot be used
 */
export async function postgresEngine (url: string): Promise<Engine> {
  const pool = new pg.Pool({
    connectionString: url,
    // One batch is in flight; the others are for pages and checks.
    max: 3,
    connectionTimeoutMillis: deadlines.connection,
    statement_timeout: deadlines.statement,
    query_timeout: deadlines.statement + 1000,
    application_name: 'plant-store',
    keepAlive: true,
    onConnect
  })
  // An idle connection that is lost is no matter: the next query opens another.
  pool.on('error', () => {})
  const query: Query = async (text, values = []) => (await pool.query<Row>(text, values)).rows

  try {
    await retry(() => prepare(query, () => pool.connect()))
  } catch (error) {
    await pool.end()
    throw new Error(`The PostgreSQL database cannot be used: ${(error as Error).message}.`, { cause: error })
  }
  return {
    addMany: plants => retry(() => addMany(query, plants)),
    async page (from, limit) {
      const rows = await retry(() => query('SELECT id, name, tag FROM plants WHERE id >= $1 ORDER BY id LIMIT $2', [from, limit]))
      return rows.map(toPlant)
    },
    count: () => retry(async () => Number((await query('SELECT count(*) AS id FROM plants'))[0]?.id)),
    check: () => retry(() => prepare(query, () => pool.connect())),
    close: () => pool.end()
  }
}

/** Whatever the database's default becomes while the service runs, its commits are durable. */
async function onConnect (client: pg.ClientBase): Promise<void> {
  await client.query("SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
}

/** What waiting does not mend. */
class Unusable extends Error {}

/** Sees to it that the tables are there and that a commit means what it says. */
async function prepare (query: Query, connect: () => Promise<pg.PoolClient>): Promise<void> {
  const show = async (setting: string) => Object.values((await query(`SHOW ${setting}`))[0] as object)[0]
  const [setting] = await query("SELECT reset_val AS name FROM pg_settings WHERE name = 'synchronous_commit'")
  if (setting?.name === 'off') throw new Unusable('its synchronous_commit is off, so that a commit could be lost; set it to on for this user or database')
  const encoding = await show('server_encoding')
  if (encoding !== 'UTF8') throw new Unusable(`its encoding is ${encoding}, which cannot hold all text; make the database with ENCODING 'UTF8'`)
  if (await show('transaction_read_only') === 'on') throw new Unusable('it is read-only')
  // Asked first: who may only use the tables may not make them.
  if (await schemaVersion(query) !== migrations.length) await migrate(connect)
  await query('SELECT id, name, tag FROM plants LIMIT 0')
}

/** What makes the schema of each version from the one before. */
const migrations = ['CREATE TABLE IF NOT EXISTS plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)']

/** The version of the schema, 0 where there is none. */
async function schemaVersion (query: Query): Promise<number> {
  try {
    const [row] = await query('SELECT version AS id FROM plants_schema')
    return Number(row?.id ?? 0)
  } catch (error) {
    if (codeOf(error) !== undefinedTable) throw error
    return 0
  }
}

/** Brings the schema to the last version. The row that holds the version is the lock: any number of services may start at once. */
async function migrate (connect: () => Promise<pg.PoolClient>): Promise<void> {
  const client = await connect()
  try {
    await client.query('CREATE TABLE IF NOT EXISTS plants_schema (one integer PRIMARY KEY, version integer NOT NULL)')
    await client.query('INSERT INTO plants_schema VALUES (1, 0) ON CONFLICT DO NOTHING')
    await client.query('BEGIN')
    const { rows: [{ version }] } = await client.query('SELECT version FROM plants_schema WHERE one = 1 FOR UPDATE')
    if (version > migrations.length) throw new Unusable(`it was written by a newer version of this program (schema ${version}, known ${migrations.length})`)
    for (const migration of migrations.slice(version)) await client.query(migration)
    await client.query('UPDATE plants_schema SET version = $1 WHERE one = 1', [migrations.length])
    await client.query('COMMIT')
    client.release()
  } catch (error) {
    // Whatever state the connection is in, it is not used again.
    client.release(true)
    throw error
  }
}

/**
 * Tries again what may succeed by itself, until the deadline: all that is done here may be done twice, so that not knowing
 * whether it was done the first time is no harm.
 */
async function retry<Result> (work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + deadlines.call
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!passing(error) || performance.now() > until) throw error
      await sleep(100)
    }
  }
}

/** Whether an error is of the moment: a lost or refused connection, a restart, or two transactions in each other's way. */
function passing (error: unknown): boolean {
  if (error instanceof Unusable) return false
  // Errors of the server carry a SQLSTATE of five characters; those of the connection another code or none.
  const code = codeOf(error) ?? ''
  return !/^[0-9A-Z]{5}$/.test(code) || /^(?:08|40|57P)/.test(code) || madeMeanwhile.includes(code)
}

const undefinedTable = '42P01'
/** Two services make the table at the same moment: PostgreSQL then finds its row, its type or itself there already. */
const madeMeanwhile = ['23505', '42710', '42P07']

function codeOf (error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/**
 * Adds the first plant of each id, and compares the others, and those that were there, with what is stored by then.
 * The ids are sorted: two services that add the same ones then wait for each other instead of blocking each other.
 */
async function addMany (query: Query, plants: readonly NewPlant[]): Promise<Outcome[]> {
  const stored = new Map<bigint, NewPlant>()
  for (const plant of plants) if (!stored.has(plant.id)) stored.set(plant.id, plant)
  const firsts = [...stored.values()].sort((a, b) => a.id < b.id ? -1 : 1)
  const inserted = await query(
    'INSERT INTO plants (id, name, tag) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING RETURNING id',
    [firsts.map(({ id }) => id), firsts.map(({ name }) => name), firsts.map(({ tag = null }) => tag)]
  )
  const added = new Set(inserted.map(({ id }) => BigInt(id)))
  const present = firsts.filter(({ id }) => !added.has(id)).map(({ id }) => id)
  if (present.length > 0) {
    for (const row of await query('SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])', [present])) stored.set(BigInt(row.id), toPlant(row))
  }
  return plants.map(plant => {
    // The first of an id that was added uses it up: its repetitions in the batch find it there.
    if (added.delete(plant.id)) return 'added'
    const { name, tag } = stored.get(plant.id) as NewPlant
    return name === plant.name && tag === plant.tag ? 'unchanged' : 'conflict'
  })
}

function toPlant ({ id, name, tag }: Row): NewPlant {
  return tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag }
}
