// The thread that owns the SQLite file. A reply leaves it only after the commit has reached the disk.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'

export type Call = { add: readonly NewPlant[] } | { page: bigint | undefined } | { count: true } | { check: true } | { close: true }
export type Reply = { result: unknown } | { error: unknown }

const path = String(workerData)
/** What makes the schema of each version from the one before. */
const migrations = ['CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT']
const version = migrations.length
const applicationId = 0x506c6e74 // "Plnt" in the file's header: tells our file from another program's
const pageSize = 1000
/** Bytes of the smallest page, and so of the smallest database. */
const smallest = 512
/** Milliseconds in which another process makes a database. */
const patience = 500

let database: ReturnType<typeof open> | undefined
/** The file that was opened first: it is not made anew, nor another taken for it, as that would hide that it is gone. */
let known: bigint | undefined

parentPort?.on('message', (call: Call) => {
  // A closed port ends the thread once the reply is out.
  parentPort?.postMessage(reply(call))
  if ('close' in call) parentPort?.close()
})

function reply (call: Call): Reply {
  try {
    if ('close' in call) return { result: close() }
    database ??= open()
    return { result: carryOut(call, database) }
  } catch (error) {
    // After a failed write nothing is known of what the disk holds: whoever comes next opens the file again, and SQLite recovers it.
    close()
    return { error }
  }
}

function carryOut (call: Exclude<Call, { close: true }>, open: NonNullable<typeof database>): unknown {
  if ('add' in call) return open.add(call.add)
  if ('page' in call) return open.page(call.page)
  if ('count' in call) return open.count()
  return open.check()
}

function close (): void {
  database?.connection.close()
  database = undefined
}

function open () {
  if (known !== undefined && !existsSync(path)) throw new Error('its file is gone')
  if (known !== undefined && stat(path)?.ino !== known) throw new Error('its file was replaced')
  refuseTooSmall()
  makeDirectory(dirname(resolve(path)))
  // Another process may write to the same file: it is waited for, up to five seconds.
  const connection = new DatabaseSync(path, { timeout: 5000, readBigInts: true })
  try {
    prepare(connection)
    known ??= stat(path)?.ino
    return { connection, ...statements(connection) }
  } catch (error) {
    connection.close()
    throw error
  }
}

/** SQLite would take what is left of such a file for a new database; but one that another process is just making is as small. */
function refuseTooSmall (): void {
  const isTooSmall = () => (statSync(path, { throwIfNoEntry: false })?.size ?? smallest) < smallest
  const until = performance.now() + patience
  while (isTooSmall()) {
    if (performance.now() > until) throw new Error('its file is too small for a database; restore it from a backup, or remove it to begin anew')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, patience / 10)
  }
}

function stat (file: string) {
  return statSync(file, { bigint: true, throwIfNoEntry: false })
}

/** A check that the file and its log are the ones that were opened: one that was removed, replaced or cut still takes writes, which nobody will ever read. */
function watchFiles (): () => void {
  const log = `${path}-wal`
  const [file, logFile] = [stat(path)?.ino, stat(log)?.ino]
  let size = statSync(path, { bigint: true }).size
  return () => {
    const now = stat(path)
    if (now === undefined || now.ino !== file || stat(log)?.ino !== logFile) throw new Error('its file was removed or replaced')
    if (now.size < size) throw new Error('its file was cut')
    size = now.size
  }
}

function statements (connection: DatabaseSync) {
  const refuseOtherFiles = watchFiles()
  const insert = connection.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const same = connection.prepare('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?')
  const first = connection.prepare('SELECT id, name, tag FROM plants ORDER BY id LIMIT ?')
  const next = connection.prepare('SELECT id, name, tag FROM plants WHERE id > ? ORDER BY id LIMIT ?')

  const count = connection.prepare('SELECT count(*) AS count FROM plants')

  const addOne = ({ id, name, tag = null }: { id: bigint, name: string, tag?: string | null }): Outcome => {
    if (insert.run(id, name, tag).changes === 1n) return 'added'
    return same.get(id, name, tag) === undefined ? 'conflict' : 'unchanged'
  }
  return {
    add (plants: readonly NewPlant[]) {
      const outcomes = transaction(connection, () => plants.map(addOne))
      refuseOtherFiles()
      return outcomes
    },
    page: (after: bigint | undefined) => (after === undefined ? first.all(pageSize) : next.all(after, pageSize))
      .map(({ id, name, tag }) => tag === null ? { id, name } : { id, name, tag }),
    count: () => Number(count.get()?.count),
    // A write, as a disk that is full can still be read and locked.
    check () {
      transaction(connection, () => connection.exec(`PRAGMA user_version = ${version}`))
      refuseOtherFiles()
    }
  }
}

function transaction<Result> (connection: DatabaseSync, work: () => Result): Result {
  connection.exec('BEGIN IMMEDIATE')
  const result = work()
  connection.exec('COMMIT')
  return result
}

/** Makes commits durable and the table present; refuses a file that cannot be, or is not ours. */
function prepare (connection: DatabaseSync): void {
  const read = (pragma: string): unknown => Object.values(connection.prepare(`PRAGMA ${pragma}`).get() as object)[0]
  const journal = read('journal_mode = WAL')
  // fullfsync: on macOS fsync alone leaves the data in the disk's cache.
  connection.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
  if (journal !== 'wal' || read('synchronous') !== 2n) throw new Error('it cannot be opened with durable commits')
  refuseDamaged(connection, read)
  transaction(connection, () => {
    const found = Number(read('user_version'))
    const ours = Number(read('application_id')) === applicationId
    if (!ours && (found !== 0 || read('schema_version') !== 0n)) throw new Error('it is the database of another program')
    if (found > version) throw new Error(`it was written by a newer version of this program (schema ${found}, known ${version})`)
    if (found === version) return
    for (const migration of migrations.slice(found)) connection.exec(migration)
    connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`)
  })
}

/** Reads the whole file, at the speed of the disk. */
function refuseDamaged (connection: DatabaseSync, read: (pragma: string) => unknown): void {
  const { busy } = connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: bigint }
  // Once nothing is left in the log, the pages are the file. SQLite itself reads a last page that is cut as if it were whole.
  const pages = Number(read('page_count')) * Number(read('page_size'))
  // Another process may write meanwhile: what it adds is in the log first.
  const isWhole = busy !== 0n || statSync(path).size === pages || statSync(`${path}-wal`).size > 0
  const damage = isWhole ? String(read('quick_check(1)')) : `its size is not that of its pages, ${pages} bytes`
  if (damage !== 'ok') throw new Error(`it is damaged (${damage.replaceAll('\n', ' ')}); restore it from a backup`)
}

/**
 * Makes a directory and those above it. SQLite syncs the directory of its files; that a new directory is itself in its
 * parent is for us to sync. (Node's own recursion never ends where directories cannot be made, as in /proc.)
 */
function makeDirectory (directory: string): void {
  if (existsSync(directory)) return
  makeDirectory(dirname(directory))
  try {
    mkdirSync(directory)
  } catch (error) {
    // Another process may have been first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const parent = openSync(dirname(directory), 'r')
  fsyncSync(parent)
  closeSync(parent)
}
