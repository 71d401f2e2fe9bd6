// The database at startup and later: checks that it can promise durable commits, creates or
// upgrades its tables, and finds its dialect.
import { columns, migrations, newest } from './columns.ts'
import { type Dialect, dialectOf } from './dialects.ts'
import {
  codeOf, isWrongStatement, makeWritable, namePrimary, PermanentError, sqlOfOwner, undefinedTable
} from './errors.ts'
import { checkRights, type Query } from './plants.ts'

/**
 * Checks that the database can promise durable commits of any text, creates missing tables, and
 * checks that they take a plant.
 */
export async function setUpDatabase (query: Query): Promise<Dialect> {
  const dialect = await inspectDatabase(query, migrate)
  if (dialect.tryInsert !== undefined) await query(dialect.tryInsert)
  return dialect
}

/**
 * As setUpDatabase(), but rejects without its tables: new ones would hide the loss of the old ones.
 * Adds no row, because it runs again and again.
 * @param schema where the tables were: other ones may have the same ids
 */
export function checkDatabase (query: Query, schema: string): Promise<Dialect> {
  return inspectDatabase(query, async () => {
    const problem = 'its table plants_schema is gone, and plants perhaps with it'
    const remedy = 'restore them, or restart the service, which makes what is missing'
    throw new PermanentError(`${problem}; ${remedy}`)
  }, schema)
}

async function inspectDatabase (
  query: Query,
  upgrade: typeof migrate,
  before?: string
): Promise<Dialect> {
  // An old session may be read-only when the database no longer is, so a refused one is replaced.
  const [settings] = await query<Settings>(readSettings, [], refuseUnsafe)
  const dialect = dialectOf(settings as Settings & { schema: string })
  const { schema } = dialect
  if (schema !== (before ?? schema)) {
    const problem = `its search_path leads to the schema ${schema}, and no longer to ${before}`
    throw new PermanentError(`${problem}; set it back`)
  }
  const version = await schemaVersion(query, schema)
  await checkTable(query, schema, version)
  if (version > newest) {
    const versions = `schema ${version}, known ${newest}`
    const problem = `it was written by a newer version of this program (${versions})`
    throw new PermanentError(`${problem}; start the newer version`)
  }
  // A user with rights on the tables may lack the right to create them.
  if (version < newest) {
    await upgrade(query, schema, version)
    await checkTable(query, schema, newest)
  }
  await checkRights(query, dialect)
  return dialect
}

interface Settings {
  hasCitus: boolean
  /** Null when search_path names none that exists and that the user may use. */
  schema: string | null
  /** The schemas of search_path that have tables of this program, if there are several. */
  ambiguous: string | null
  /** The other schemas that have tables of this program, if `schema` has none. */
  elsewhere: string | null
  commit: string
  encoding: string
  readOnly: string
  isStandby: boolean
  fsync: string | null
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
  if (settings.schema === null) {
    const problem = 'its search_path names no schema that its user may use'
    const remedy = 'GRANT USAGE on that schema, or name another for this user or database'
    throw new PermanentError(`${problem}; ${remedy}`)
  }
  if (settings.ambiguous !== null) {
    const problem = `its search_path leads to the tables of ${settings.ambiguous}`
    throw new PermanentError(`${problem}; leave one of these schemas out of it`)
  }
  if (settings.elsewhere !== null) {
    // As after a restore, which has no search_path, or without USAGE on that schema.
    const problem = `tables of the service are in the schema ${settings.elsewhere}, ` +
      `but its search_path leads to ${settings.schema} first`
    const remedy = 'name that schema in it and GRANT USAGE on it, or let the owner make new tables'
    throw new PermanentError(`${problem}; ${remedy}, ${sqlOfOwner}`)
  }
  if (settings.readOnly === 'on') {
    throw new PermanentError(`it is read-only; ${settings.isStandby ? namePrimary : makeWritable}`)
  }
}

/** As quote_ident(), but also where another client of a pooler set quote_all_identifiers. */
const quoted = (name: string) => `'"' || replace(${name}, '"', '""') || '"'`

/**
 * Behind a pooler, another client may have changed synchronous_commit or search_path in the
 * session, or have a temporary table. Each batch sets its own level and names its schema, so only
 * the defaults of the user and the database say what the operator wants. The schema is the first
 * that has a table of plants, else the first; temporary ones end with the session. Without
 * pg_catalog, catalogs and types may be temporary tables.
 */
const readSettings = `WITH path AS (
    SELECT ${quoted('schema.name')} AS name, position
    FROM (SELECT set_config('search_path', reset_val, true) AS path
      FROM pg_catalog.pg_settings WHERE name = 'search_path') AS operator,
      unnest(current_schemas(operator.path IS NULL)) WITH ORDINALITY AS schema (name, position)
    WHERE schema.name !~ '^pg_'
  ), chosen AS (
    SELECT name FROM path
    ORDER BY to_regclass(name || '.plants') IS NULL, position
    LIMIT 1
  ), stores AS (
    SELECT ${quoted('nspname')} AS name FROM pg_catalog.pg_namespace
    WHERE nspname !~ '^pg_' AND 2 = (SELECT count(*) FROM pg_catalog.pg_class
      WHERE relnamespace = pg_namespace.oid AND relname IN ('plants', 'plants_schema'))
  )
  SELECT current_setting('server_encoding') AS encoding,
  (SELECT name FROM chosen) AS schema,
  (SELECT string_agg(name, ' and of ' ORDER BY position) FROM path JOIN stores USING (name)
    HAVING count(*) > 1) AS ambiguous,
  (SELECT string_agg(name, ' and ' ORDER BY name) FROM stores
    WHERE (SELECT name FROM chosen) NOT IN (SELECT name FROM stores)) AS elsewhere,
  EXISTS (SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus') AS "hasCitus",
  (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'fsync') AS fsync,
  (SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'synchronous_commit') AS commit,
  current_setting('transaction_read_only') AS "readOnly", pg_is_in_recovery() AS "isStandby"`

/** The columns of the table, if there is one, and what is wrong with one of this version. */
async function readTable (
  query: Query,
  schema: string,
  version: number
): Promise<{ found: Column[], wrong?: string }> {
  const found = await query<Column>(readColumns, [`${schema}.plants`])
  const typeByName = new Map(found.map(({ name, type }) => [name, type]))
  // The first migration may have run without its version.
  const wrong = Object.entries(columns).find(([name, { type, since }]) => {
    return since <= Math.max(version, 1) && typeByName.get(name) !== type
  })
  if (found.length === 0 || wrong === undefined) return { found }
  const [name, { type }] = wrong
  const present = typeByName.get(name)
  const problem = present === undefined
    ? `its table plants has no column ${name} of the type ${type}`
    : `the column ${name} of its table plants is of the type ${present}, not ${type}`
  return { found, wrong: problem }
}

/** Finds a table `plants` of another program before anything is written. */
async function checkTable (query: Query, schema: string, version: number): Promise<void> {
  const { found, wrong } = await readTable(query, schema, version)
  if (wrong !== undefined) {
    const remedy = 'use another database if it belongs to another program, or undo the change of ' +
      'the table, of a migration that has run, or of a `since` in src/stores/postgres/columns.ts'
    throw new PermanentError(`${wrong}; ${remedy}`)
  }
  const [{ kind = 'r', persistence = 'p' } = {}] = found
  if (kind !== 'r' && kind !== 'p') {
    const problem = 'its plants are no table, so that nothing is known of their durability'
    throw new PermanentError(`${problem}; use a table`)
  }
  if (kind === 'r' && persistence.length > 1) {
    const problem = 'other tables inherit from its table plants, so that an id may be there twice'
    throw new PermanentError(`${problem}; use partitions, or no such tables`)
  }
  if (persistence.includes('u')) {
    const problem = 'its table plants is UNLOGGED, so that a crash empties it'
    throw new PermanentError(`${problem}; use ALTER TABLE plants SET LOGGED`)
  }
}

/** `persistence` has a letter for the table and for each that inherits from it. */
interface Column { name: string, type: string, kind: string, persistence: string }

const readColumns = `WITH RECURSIVE tables AS (
    SELECT to_regclass($1)::pg_catalog.oid AS oid
    UNION SELECT inhrelid FROM pg_catalog.pg_inherits JOIN tables ON inhparent = oid
  )
  SELECT attname AS name, relkind AS kind,
    (SELECT typname FROM pg_catalog.pg_type WHERE pg_type.oid = atttypid
      AND typnamespace = 'pg_catalog'::pg_catalog.regnamespace) AS type,
    (SELECT string_agg(relpersistence::pg_catalog.text, '')
      FROM pg_catalog.pg_class JOIN tables USING (oid)) AS persistence
  FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class ON pg_class.oid = attrelid
  WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`

/** The version of the schema; 0 without one. */
async function schemaVersion (query: Query, schema: string): Promise<number> {
  const select = `SELECT version FROM ${schema}.plants_schema`
  try {
    const [row] = await query<{ version: number }>(select)
    return row?.version ?? 0
  } catch (error) {
    if (codeOf(error) !== undefinedTable) throw error
    return 0
  }
}

async function migrate (query: Query, schema: string, version: number): Promise<void> {
  const versions = `${schema}.plants_schema`
  const definition = 'one integer PRIMARY KEY, version integer NOT NULL'
  await query(`CREATE TABLE IF NOT EXISTS ${versions} (${definition})`)
  await query(`INSERT INTO ${versions} VALUES (1, 0) ON CONFLICT DO NOTHING`)
  for (const [number, toStatement] of Object.entries(migrations).slice(version)) {
    await query(toStatement(schema)).catch((error: Error) => {
      throw isWrongStatement(error) ? failedMigration(number, error.message) : error
    })
    // Before its version is written: it can be corrected, and runs again.
    const { wrong } = await readTable(query, schema, Number(number))
    if (wrong !== undefined) throw failedMigration(number, wrong, 'drop the columns it made, and ')
    await query(`UPDATE ${versions} SET version = $1 WHERE version < $1`, [Number(number)])
  }
}

function failedMigration (number: string, reason: string, undo = ''): PermanentError {
  const wayOut = undo + 'correct it in src/stores/postgres/columns.ts'
  return new PermanentError(`migration ${number} failed (${reason}); ${wayOut}`)
}
