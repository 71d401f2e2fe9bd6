// The database at startup and later: checks that it can promise durable commits, creates or
// upgrades its tables, and finds its dialect.
import { type Dialect, dialectOf } from './dialects.ts'
import { codeOf, PermanentError, undefinedTable } from './errors.ts'
import { checkRights, type Query } from './plants.ts'

/** Checks that the database can promise durable commits of any text, and creates missing tables. */
export function setUpDatabase (query: Query): Promise<Dialect> {
  return inspectDatabase(query, migrate)
}

/**
 * As setUpDatabase(), but rejects without its tables: new ones would hide the loss of the old ones.
 */
export function checkDatabase (query: Query): Promise<Dialect> {
  return inspectDatabase(query, async () => {
    const remedy = 'restore them, or restart the service to create new ones'
    throw new PermanentError(`its tables are gone; ${remedy}`)
  })
}

async function inspectDatabase (query: Query, upgrade: typeof migrate): Promise<Dialect> {
  const dialect = await checkSettings(query)
  await checkTable(query)
  const version = await schemaVersion(query)
  if (version > migrations.length) {
    const versions = `schema ${version}, known ${migrations.length}`
    throw new PermanentError(`it was written by a newer version of this program (${versions})`)
  }
  // A user with rights on the tables may lack the right to create them.
  if (version < migrations.length) await upgrade(query, version)
  await checkRights(query, dialect)
  return dialect
}

interface Settings {
  hasCitus: boolean
  commit: string
  encoding: string
  readOnly: string
  fsync: string | null
}

async function checkSettings (query: Query): Promise<Dialect> {
  // An old session may be read-only when the database no longer is, so a refused one is replaced.
  const [settings] = await query<Settings>(readSettings, [], refuseUnsafe)
  return dialectOf(settings as Settings)
}

function refuseUnsafe ([settings]: Settings[]): void {
  if (settings?.encoding !== 'UTF8') {
    const problem = `its encoding is ${settings?.encoding}, which cannot hold all text`
    throw new PermanentError(`${problem}; create the database with ENCODING 'UTF8'`)
  }
  if (settings.commit === 'off') {
    const problem = 'its synchronous_commit is off, so that a commit could be lost'
    throw new PermanentError(`${problem}; set it to on for this user or database`)
  }
  if (settings.fsync === 'off') {
    const problem = 'its fsync is off, so that a power cut could lose plants'
    throw new PermanentError(`${problem}; set it to on and restart it`)
  }
  if (settings.readOnly === 'on') {
    const remedy = 'name the primary, or all hosts, as in postgres://user@a,b/database'
    throw new PermanentError(`it is read-only; ${remedy}`)
  }
}

/**
 * Behind a pooler, another client may have changed synchronous_commit in the session. Each batch
 * sets its own, so only the default of the user and the database says what the operator wants.
 */
const readSettings = `SELECT current_setting('server_encoding') AS encoding,
  EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') AS "hasCitus",
  (SELECT setting FROM pg_settings WHERE name = 'fsync') AS fsync,
  (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS commit,
  current_setting('transaction_read_only') AS "readOnly"`

/** Finds a table `plants` of another program before anything is written. */
async function checkTable (query: Query): Promise<void> {
  const columns = await query<{ name: string, type: string, persistence: string }>(readColumns)
  const typeByName = new Map(columns.map(({ name, type }) => [name, type]))
  const isOurs = Object.entries(columnTypes).every(([name, type]) => typeByName.get(name) === type)
  if (columns.length > 0 && !isOurs) {
    const remedy = 'use another database'
    throw new PermanentError(`its table plants belongs to another program; ${remedy}`)
  }
  if (columns.some(({ persistence }) => persistence === 'u')) {
    const problem = 'its table plants is UNLOGGED, so that a crash empties it'
    throw new PermanentError(`${problem}; use ALTER TABLE plants SET LOGGED`)
  }
}

const columnTypes = { id: 'bigint', name: 'text', tag: 'text' }
const readColumns = `SELECT attname AS name, format_type(atttypid, NULL) AS type,
    relpersistence AS persistence
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  WHERE attrelid = to_regclass('plants') AND attnum > 0 AND NOT attisdropped`

/**
 * Each migration upgrades the schema from the version that is its index. It must be safe to run
 * twice: services that start together may both run it.
 */
const migrations = [
  'CREATE TABLE IF NOT EXISTS plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)'
]

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

async function migrate (query: Query, version: number): Promise<void> {
  const columns = 'one integer PRIMARY KEY, version integer NOT NULL'
  await query(`CREATE TABLE IF NOT EXISTS plants_schema (${columns})`)
  await query('INSERT INTO plants_schema VALUES (1, 0) ON CONFLICT DO NOTHING')
  for (const [index, migration] of migrations.slice(version).entries()) {
    await query(migration)
    await query('UPDATE plants_schema SET version = $1 WHERE version < $1', [version + index + 1])
  }
}
