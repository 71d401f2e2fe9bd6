// The worker thread that owns the SQLite file. It replies only after the commit has reached the disk.
import { existsSync, openSync, readSync, closeSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { makeDirectory } from '../make-directory.ts'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import { prepare, transaction, version } from './sqlite-schema.ts'

export type Call = { add: readonly NewPlant[] } | { page: Page } | { count: true } | { check: true } | { close: true }
interface Page { from: bigint, limit: number }
export type Reply = { result: unknown } | { error: unknown }

const path = String(workerData)
/** The smallest page size in bytes; a database is never smaller. */
const smallestSize = 512
/** How long another process may take to create the database. */
const creationWaitMs = 500

let database: ReturnType<typeof open> | undefined
/** Inode of the file opened first. Never create or open another one: that would hide lost plants. */
let firstInode: bigint | undefined
/** Plants of the log are lost. A new log would hide that. */
let truncatedLog: Error | undefined

parentPort?.on('message', (call: Call) => {
  // Closing the port ends the thread after the reply.
  parentPort?.postMessage(reply(call))
  if ('close' in call) parentPort?.close()
})

function reply (call: Call): Reply {
  try {
    if ('close' in call) return { result: close() }
    if (truncatedLog !== undefined) throw truncatedLog
    database ??= open()
    return { result: execute(call, database) }
  } catch (error) {
    if (error instanceof FileChanged) {
      if (database?.connection.isTransaction) database.connection.exec('ROLLBACK')
      return { error }
    }
    if (isLocked(error)) return { error: new Error('another process has locked the file; end that process') }
    // After a failed write, close the file: the next call opens it again, and SQLite recovers it.
    close()
    return { error }
  }
}

/** Whether a transaction could not begin because of another process. Then there is nothing to recover. */
function isLocked (error: unknown): boolean {
  const isBusy = error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy
  return isBusy && database?.connection.isTransaction !== true
}

/** SQLITE_BUSY; see "Result Codes" of SQLite. */
const sqliteBusy = 5

function execute (call: Exclude<Call, { close: true }>, open: NonNullable<typeof database>): unknown {
  if ('add' in call) return open.add(call.add)
  if ('page' in call) return open.page(call.page.from, call.page.limit)
  if ('count' in call) return open.count()
  return check(call, open)
}

/** A parameter of the last kind of call, so that the compiler reports a kind without its case. */
function check (_call: { check: true }, open: NonNullable<typeof database>): void {
  open.check()
}

function close (): void {
  database?.close()
  database = undefined
}

function open () {
  if (firstInode !== undefined && !existsSync(path)) throw new Error('its file is gone')
  if (firstInode !== undefined && stat(path)?.ino !== firstInode) throw new Error('its file was replaced')
  // SQLite names the log after the path: each link would have another log.
  const hasOtherLink = (stat(path)?.nlink ?? 1n) > 1n
  if (hasOtherLink) throw new Error('its file has another hard link, by which SQLite would lose plants')
  refuseTooSmall()
  makeDirectory(dirname(path))
  // Waits up to five seconds for another process that writes to the file.
  const connection = new DatabaseSync(path, { timeout: 5000, readBigInts: true })
  try {
    prepare(connection, path)
    firstInode ??= stat(path)?.ino
    return { connection, ...statements(connection) }
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * SQLite treats a file this small as new. Another process may be creating it: wait, then refuse it as truncated.
 * With a rollback journal beside it, a crash interrupted the creation: a database with plants has no such journal.
 */
function refuseTooSmall (): void {
  const isTooSmall = () => (statSync(path, { throwIfNoEntry: false })?.size ?? smallestSize) < smallestSize
  const until = performance.now() + creationWaitMs
  const wayOut = 'restore it from a backup, or remove it to start with an empty one'
  while (isTooSmall()) {
    if (performance.now() > until) {
      if (existsSync(`${path}-journal`)) return
      throw new Error(`its file is too small for a database; ${wayOut}`)
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, creationWaitMs / 10)
  }
}

function stat (file: string) {
  return statSync(file, { bigint: true, throwIfNoEntry: false })
}

/** Returns checks that the open files are still in place and complete: plants written to others would be lost. */
function createFileChecks (pageSize: number) {
  const names = [path, `${path}-wal`, `${path}-shm`]
  const inodes = names.map(name => stat(name)?.ino)
  const index = openSync(`${path}-shm`, 'r')
  const observe = () => observeFiles(names, index)
  let last = observe()
  let { size } = statSync(path, { bigint: true })
  return {
    checkPlace () {
      const now = observe()
      const areOpened = now.files.every((file, nth) => file?.ino === inodes[nth])
      if (now.file === undefined || !areOpened) throw new Error('its file was removed or replaced')
      if (now.file.size < size) throw new Error('its file was truncated')
      if (isChangedByOthers(now, last, pageSize)) throw new FileChanged(changed)
      size = now.file.size
      last = now
    },
    /** Call it inside a transaction, when no other process truncates the log. */
    checkLog () {
      if (statSync(`${path}-wal`).size >= logBytes(readIndex(index), pageSize)) return
      const wayOut = 'stop the service and restore a backup'
      truncatedLog = new Error(`its write-ahead log was truncated, and plants of it are lost; ${wayOut}`)
      throw truncatedLog
    },
    close: () => closeSync(index)
  }
}

/** The file is not what SQLite has written. Closing it would write the log into it: a restart checks it. */
class FileChanged extends Error {}
const changed = 'its file was changed by another program; restart the service, which checks it'

type Stat = ReturnType<typeof stat>
interface Observation { files: Stat[], file: Stat, index: Index }

/** Only a checkpoint writes to the file, and it leaves its traces in the index. */
function isChangedByOthers (now: Observation, last: Observation, pageSize: number): boolean {
  const { file, index: { pages, salt, merged, attempted, total } } = now
  // A checkpoint is under way, or its process has died.
  if (file === undefined || merged !== attempted) return false
  const isSameCheckpoint = salt === last.index.salt && merged === last.index.merged && attempted === last.index.attempted
  if (isSameCheckpoint && file.mtimeNs !== last.file?.mtimeNs) return true
  // Once all pages of the log are in the file, it has all pages of the database, and no others.
  return merged === pages && total > 0 && file.size !== BigInt(total * pageSize)
}

/** Looks at files and index of one moment: checkpoints of other processes change both. */
function observeFiles (names: string[], descriptor: number): Observation {
  let index = readIndex(descriptor)
  for (;;) {
    const files = names.map(stat)
    const before = index
    index = readIndex(descriptor)
    if (Object.entries(index).every(([name, value]) => before[name as keyof Index] === value)) {
      return { files, file: files[0], index }
    }
  }
}

/** The start of the shared index; see "WAL-Index File Format" of SQLite. Its words have the order of the machine. */
interface Index {
  /** Pages in the log. */
  pages: number
  /** Pages in the database; 0 when the log was opened empty. */
  total: number
  /** Changes when the log starts anew. */
  salt: number
  /** Pages of the log that are in the file by now, and pages that a checkpoint began to write. */
  merged: number
  attempted: number
}

const words = new Uint32Array(33)

function readIndex (descriptor: number): Index {
  readSync(descriptor, words, { position: 0 })
  const [pages, total, salt, merged, attempted] = [4, 5, 8, 24, 32].map(word => words[word]) as [
    number, number, number, number, number
  ]
  return { pages, total, salt, merged, attempted }
}

/** The size that the log has at least: a header of 32 bytes, and 24 more bytes for each page. */
function logBytes ({ pages }: Index, pageSize: number): number {
  return pages === 0 ? 0 : 32 + pages * (pageSize + 24)
}

function statements (connection: DatabaseSync) {
  const { page_size: pageSize } = connection.prepare('PRAGMA page_size').get() as { page_size: bigint }
  const files = createFileChecks(Number(pageSize))
  const insert = connection.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const same = connection.prepare('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?')
  const page = connection.prepare('SELECT id, name, tag FROM plants WHERE id >= ? ORDER BY id LIMIT ?')
  const count = connection.prepare('SELECT count(*) AS count FROM plants')

  const addOne = ({ id, name, tag = null }: { id: bigint, name: string, tag?: string | null }): Outcome => {
    if (insert.run(id, name, tag).changes === 1n) return 'added'
    return same.get(id, name, tag) === undefined ? 'conflict' : 'unchanged'
  }
  const toPlant = ({ id, name, tag }: Record<string, unknown>) => tag === null ? { id, name } : { id, name, tag }
  /** Another process may use other files by now: check before the commit as well as after it. */
  const write = <Result>(work: () => Result): Result => {
    const result = transaction(connection, () => {
      files.checkPlace()
      files.checkLog()
      return work()
    })
    files.checkPlace()
    return result
  }
  return {
    add: (plants: readonly NewPlant[]) => write(() => plants.map(addOne)),
    page: (from: bigint, limit: number) => page.all(from, limit).map(toPlant),
    count: () => Number(count.get()?.count),
    // Writes, because a full disk still allows reads and locks.
    check: () => write(() => connection.exec(`PRAGMA user_version = ${version}`)),
    close () {
      // Before the index: closing a descriptor of a file ends the locks that this process has on it (POSIX).
      connection.close()
      files.close()
    }
  }
}
