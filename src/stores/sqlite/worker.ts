// The worker thread that owns the SQLite file. It replies only after the commit has reached the disk.
import { openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { makeDirectory } from '../../own-files.ts'
import type { NewPlant, Outcome } from '../../plants/plant-store.ts'
import type { Call, Reply, Request, Response } from '../remote.ts'
import { createFileChecks, FileChanged, refuseOtherFiles, stat } from './files.ts'
import { prepare, transaction, version } from './schema.ts'

const path = String(workerData)

let database: ReturnType<typeof open> | undefined
/** Inode of the file opened first. Never create or open another one: that would hide lost plants. */
let firstInode: bigint | undefined
/** Kept until a restart: another process may merge or begin a log, which would hide the change. */
let changed: FileChanged | undefined

const ports = new Set<MessagePort>()

parentPort?.on('message', (port: MessagePort) => {
  ports.add(port)
  port.on('message', (request: Request) => serve(port, request))
  port.once('close', () => ports.delete(port))
})

interface Received<Kind extends Call = Call> { port: MessagePort, id: number, call: Kind }
type Batch = Extract<Call, { add: unknown }>

/** The batches that have arrived by now share a commit. */
function serve (port: MessagePort, request: Request): void {
  const received = [{ port, ...request }, ...[...ports].flatMap(waitingOn)]
  const batches = received.filter((each): each is Received<Batch> => 'add' in each.call)
  if (batches.length > 0) commit(batches)
  for (const each of received.filter(({ call }) => !('add' in call))) {
    respond(each, reply(each.call))
    if ('close' in each.call) endThread()
  }
}

function waitingOn (port: MessagePort): Received[] {
  const next: { message: Request } | undefined = receiveMessageOnPort(port)
  return next === undefined ? [] : [{ port, ...next.message }, ...waitingOn(port)]
}

function commit (batches: ReadonlyArray<Received<Batch>>): void {
  const together = reply({ add: batches.flatMap(({ call }) => call.add) })
  let first = 0
  for (const batch of batches) {
    const end = first + batch.call.add.length
    respond(batch, 'error' in together ? together : { result: (together.result as Outcome[]).slice(first, end) })
    first = end
  }
}

function respond ({ port, id }: Received, reply: Reply): void {
  port.postMessage({ id, ...reply } satisfies Response)
}

/** A thread ends when its ports are closed. */
function endThread (): void {
  for (const port of ports) port.close()
  parentPort?.close()
}

function reply (call: Call): Reply {
  try {
    if ('close' in call) return { result: closeInPlace() }
    if (changed !== undefined) throw changed
    database ??= open()
    return { result: execute(call, database) }
  } catch (error) {
    if (error instanceof FileChanged) {
      changed = error
      if (database?.connection.isTransaction) database.connection.exec('ROLLBACK')
      return { error }
    }
    if (isLocked(error)) return { error: new Error('another process has locked the file; end that process') }
    // After a failed write, close the file: the next call opens it again, and SQLite recovers it.
    close()
    return { error: withWayOut(error) }
  }
}

/** By the primary code; see "Result Codes" of SQLite. */
const waysOut: Readonly<Record<number, string>> = {
  8: 'let the user of the service write to the file and to its folder', // SQLITE_READONLY
  13: 'free some space', // SQLITE_FULL
  14: 'let the user of the service write to its folder', // SQLITE_CANTOPEN
  26: 'name another file, or restore this one from a backup' // SQLITE_NOTADB
}

function withWayOut (error: unknown): unknown {
  const { errcode, syscall, message } = error as Error & { errcode?: number, syscall?: string }
  const wayOut = syscall === 'mkdir' ? 'name a file in another folder' : waysOut[Number(errcode) & 0xff]
  return wayOut === undefined ? error : new Error(`${message}; ${wayOut}`, { cause: error })
}

/** Whether a transaction could not begin because of another process. Then there is nothing to recover. */
function isLocked (error: unknown): boolean {
  const isBusy = error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy
  return isBusy && database?.connection.isTransaction !== true
}

/** SQLITE_BUSY. */
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

/** @throws Error when the file is elsewhere by now: SQLite has left its log alone then. */
function closeInPlace (): void {
  const isInPlace = firstInode === undefined || stat(path)?.ino === firstInode
  close()
  const log = `${path}-wal`
  if (!isInPlace && stat(log) !== undefined) {
    throw new Error(`The database ${path} was removed or replaced, and ${log} may have plants of it. ` +
      'Put the file back before the next start.')
  }
}

function open () {
  const file = stat(path)
  if (firstInode !== undefined && file === undefined) throw new Error('its file is gone')
  if (firstInode !== undefined && file?.ino !== firstInode) throw new Error('its file was replaced')
  makeDirectory(dirname(path))
  refuseOtherFiles(path)
  // Waits up to five seconds for another process that writes to the file.
  const connection = new DatabaseSync(path, { timeout: 5000, readBigInts: true })
  try {
    prepare(connection, path)
    if (firstInode === undefined) {
      firstInode = stat(path)?.ino
      // Kept open: no other file gets the inode of an open one.
      openSync(path, 'r')
    }
    return { connection, ...statements(connection) }
  } catch (error) {
    connection.close()
    // An empty file would be refused as truncated.
    if (file === undefined && stat(path)?.size === 0n) rmSync(path)
    throw error
  }
}

function statements (connection: DatabaseSync) {
  const { page_size: pageSize } = connection.prepare('PRAGMA page_size').get() as { page_size: bigint }
  const files = createFileChecks(path, Number(pageSize))
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
