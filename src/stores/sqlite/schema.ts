// The SQLite database when it is opened: durable commits, the table, and files that are refused.
import { appendFileSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import type { NewPlant } from '../../plants/plant-store.ts'
import { isBusy, merge } from './checkpoint.ts'
import { becomesTrue, lockWaitMs } from './wait.ts'

/** SQL that leads to the schema of each version from the one before. */
const migrations = {
  1: 'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT'
}
/** The number that `PRAGMA user_version` has after all of them. */
export const version = Object.keys(migrations).length

interface Column {
  /** The migration that adds it. */
  since: keyof typeof migrations
  value: (plant: NewPlant) => SQLInputValue
}
/** The column of each member of a plant. */
export const columns = {
  id: { since: 1, value: ({ id }) => id },
  name: { since: 1, value: ({ name }) => name },
  tag: { since: 1, value: ({ tag = null }) => tag }
} satisfies Record<keyof NewPlant, Column>

/** All of them, as a part of a statement. */
export const columnNames = Object.keys(columns).map(name => `"${name}"`).join(', ')

/** Bytes of a file whose creation was interrupted: its table is in the log. */
const largestNew = 4096

/** "Plnt" in the header of the file: it distinguishes the file from those of other programs. */
const applicationId = 0x506c6e74

export function transaction<Result> (connection: DatabaseSync, work: () => Result): Result {
  connection.exec('BEGIN IMMEDIATE')
  const result = work()
  connection.exec('COMMIT')
  return result
}

/** Writes the first page of the file, with the version that it has: a newer one stays. */
export function writeVersion (connection: DatabaseSync): void {
  const { user_version: found } = connection.prepare('PRAGMA user_version').get() as Row
  connection.exec(`PRAGMA user_version = ${found}`)
}
type Row = Record<string, SQLOutputValue>

/**
 * Makes commits durable, creates the table, and refuses files that are damaged or of other
 * programs.
 * @throws Error whose message completes a sentence about the file
 */
export function setUpFile (connection: DatabaseSync, path: string): void {
  const read: ReadPragma = pragma => {
    const row = connection.prepare(`PRAGMA ${pragma}`).get() as object
    return Object.values(row)[0]
  }
  const isWritten = Number(statSync(path, { throwIfNoEntry: false })?.size) > largestNew
  // fullfsync: on macOS fsync alone leaves the data in the disk's cache. SQLite's own checkpoints
  // hide their failures.
  connection.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
    PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON`)
  // Before a log begins: SQLite rolls such a file back to an empty one.
  if (isWritten && read('schema_version') === 0n) {
    const problem = 'it was not written to its end, as by an interrupted backup'
    throw new Error(`${problem}; restore another one, or remove it to start with an empty one`)
  }
  const journal = startLog(read)
  if (journal !== 'wal' || read('synchronous') !== 2n) {
    throw new Error('it cannot be opened with durable commits; name a file')
  }
  // Opens the log: a checkpoint that opens it waits for its own lock if others have written.
  connection.exec('SELECT 1 FROM sqlite_schema')
  checkIntegrity(connection, path, read)
  const isNew = read('schema_version') === 0n
  transaction(connection, () => {
    migrate(connection, read)
    writeVersion(connection)
  })
  // The file gets the change counter of this run, which the next start finds if the log is lost. A
  // new file without its log has no table, which a start notices, too.
  if (!isNew) merge(() => connection.exec('PRAGMA wal_checkpoint(PASSIVE)'))
  rmSync(creationMark(path), { force: true })
}

/**
 * An empty file that is beside a new database until the log has the table. Without it, the next
 * start takes an interrupted creation for a database whose log is lost.
 */
export function creationMark (path: string): string {
  return `${path}-new`
}

/** Call it before SQLite creates the file. */
export function markCreation (path: string): void {
  try {
    appendFileSync(creationMark(path), '')
  } catch {
    // SQLite will say the same of the file itself.
  }
}

/**
 * Refuses the database of another program, and of a newer version of this one.
 * @param hasNoTable whether nothing was ever written to it
 */
export function checkOwner (application: number, found: number, hasNoTable: boolean): void {
  const isNew = found === 0 && hasNoTable
  if (application !== applicationId && !isNew) {
    // `.dump` of sqlite3 leaves the id and the version out.
    const mark = application === 0 ? ', or mark a restored `.dump` (docs/use/backup.md)' : ''
    const wayOut = `name another file in DATABASE_URL${mark}`
    throw new Error(`it is the database of another program; ${wayOut}`)
  }
  if (found > version) {
    const versions = `schema ${found}, known ${version}`
    const problem = `it was written by a newer version of this program (${versions})`
    throw new Error(`${problem}; start the newer version`)
  }
}

type ReadPragma = (pragma: string) => unknown

/**
 * Returns the journal mode. SQLite waits for other locks, but not when two connections give a new
 * file its mode at once.
 */
function startLog (read: ReadPragma): unknown {
  let mode: unknown
  let failure: unknown
  const isDone = () => {
    try {
      mode = read('journal_mode = WAL')
    } catch (error) {
      failure = error
    }
    return mode !== undefined || !isBusy(failure)
  }
  becomesTrue(isDone, lockWaitMs)
  if (mode === undefined) throw failure
  return mode
}

function migrate (connection: DatabaseSync, read: ReadPragma): void {
  const found = Number(read('user_version'))
  checkOwner(Number(read('application_id')), found, read('schema_version') === 0n)
  checkTable(connection, found)
  if (found === version) return
  for (const [number, migration] of Object.entries(migrations).slice(found)) {
    run(connection, migration, number)
  }
  // A column that is missing must not be found after the commit.
  run(connection, `SELECT ${columnNames} FROM plants LIMIT 0`, String(version))
  connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`)
}

/** An error of a migration names it: the file may be as it should be. */
function run (connection: DatabaseSync, migration: string, number: string): void {
  try {
    connection.exec(migration)
  } catch (error) {
    const { message, errcode } = error as Error & { errcode: number }
    const problem = `migration ${number} of src/stores/sqlite/schema.ts failed (${message})`
    // SQLITE_ERROR: the statement is wrong. Others, such as a full disk, have their own way out.
    if (errcode !== 1) throw Object.assign(error as Error, { message: problem })
    throw new Error(`${problem}; correct it, or name another file`, { cause: error })
  }
}

/**
 * What is at a table that changes, drops or refuses plants; indexes that do so are unique. A table
 * that was renamed has quotes.
 */
const selectDefinition = `SELECT type, name, replace(sql, '"', '') FROM sqlite_schema
  WHERE tbl_name = 'plants' AND (type <> 'index' OR sql LIKE 'CREATE UNIQUE%') ORDER BY type, name`

/** Refuses a table that is not as the migrations up to this version make it. */
function checkTable (connection: DatabaseSync, found: number): void {
  const own = new DatabaseSync(':memory:')
  for (const migration of Object.values(migrations).slice(0, found)) own.exec(migration)
  const [expected, actual] = [own, connection].map(each => each.prepare(selectDefinition).all())
  own.close()
  if (isDeepStrictEqual(actual, expected)) return
  if (actual?.length === 0) {
    throw new Error('its table plants is gone; restore the file from a backup')
  }
  const wayOut = 'remove what was added to it, restore the file from a backup, or undo the ' +
    'change of a migration that has run'
  throw new Error(`its table plants was changed, and may not keep every plant; ${wayOut}`)
}

/** Refuses a damaged file. Reads the whole file. */
function checkIntegrity (connection: DatabaseSync, path: string, read: ReadPragma): void {
  const checkpoint = connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  const { busy } = merge(() => checkpoint.get()) as { busy: bigint }
  // After a checkpoint the file must have this size: SQLite does not notice a truncated last page.
  const expectedBytes = Number(read('page_count')) * Number(read('page_size'))
  // Another process may be writing; its pages are in the log first.
  const isBeingWritten = busy !== 0n || statSync(`${path}-wal`).size > 0
  const isWhole = isBeingWritten || statSync(path).size === expectedBytes
  const sizeFault = `its size should be ${expectedBytes} bytes`
  const damage = isWhole ? String(read('quick_check(1)')).replaceAll('\n', ' ') : sizeFault
  if (damage !== 'ok') throw new Error(`it is damaged (${damage}); restore it from a backup`)
}
