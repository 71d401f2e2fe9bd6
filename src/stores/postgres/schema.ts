// Prepares a database: checks that it can promise durable commits, and creates or upgrades its tables.
import type pg from 'pg'
import { codeOf, PermanentError, undefinedTable } from './errors.ts'
import { selectExisting } from './plants.ts'
import type { Query } from './plants.ts'

/** Checks that the database can promise durable commits of any text, and creates missing tables. */
export async function prepare (query: Query, connect: () => Promise<pg.PoolClient>): Promise<void> {
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
