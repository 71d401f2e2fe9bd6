// The worker thread that owns the SQLite file. It replies only after the commit has reached the
// disk.
import { closeSync, fstatSync, openSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { makeDirectory } from '../../private-files.ts'
import { isSamePlant, plantOf } from '../../plants/plant.ts'
import type { NewPlant, Outcome } from '../../plants/plant-store.ts'
import { type Args, implement, isMethod, type Method, type Results } from '../engine.ts'
import { type EngineCall, type EngineReply, type Reply, unknownMethod } from '../remote-engine.ts'
import {
  checkLogAfter, FileChanged, FileLeft, FileUnsynced, isBusy, isFailedWrite, LogRemoved,
  mergeAtEnd, syncFile, syncFolder
} from './checkpoint.ts'
import { checkFiles, fileMoved, identify, stat } from './file-checks.ts'
import { type FileWatch, watchFiles } from './file-watch.ts'
import {
  columnNames, columns, creationMark, markCreation, setUpFile, writeVersion
} from './schema.ts'
import { checkMark, removeMark, writeMark } from './unsynced-mark.ts'
import { lockWaitMs } from './wait.ts'

const path = String(workerData)

let database: ReturnType<typeof open> | undefined
/**
 * Inode of the file opened first. Never create or open another one: that would hide lost plants.
 */
let firstIdentity: string | undefined
/** Stays open: no other file gets the inode of an open one. */
let firstFile: number | undefined
/** Stays until a restart: another process may merge or begin a log, which would hide the change. */
let changed: FileChanged | undefined

/** SQLite would remove the log of the last one, which alone has pages that are not on the disk. */
const leftOpen = new Set<DatabaseSync>()

const ports = new Set<MessagePort>()

parentPort?.on('message', (port: MessagePort) => {
  ports.add(port)
  port.on('message', (request: EngineCall) => serve(port, request))
  port.once('close', () => ports.delete(port))
})
// From now on only the file lets callers wait.
parentPort?.postMessage('ready')

/** All methods but close() need the open database. */
type Statement = Exclude<Method, 'close'>
type Received<Name extends Method = Method> = EngineCall<Name> & { port: MessagePort }

/** The batches that have arrived by now share a commit. */
function serve (port: MessagePort, request: EngineCall): void {
  const batches: Array<Received<'addMany'>> = []
  const others: Received[] = []
  for (const call of [{ ...request, port }, ...receiveWaiting()]) {
    if (call.method === 'addMany') batches.push(call)
    else others.push(call)
  }
  if (batches.length > 0) commit(batches)
  for (const call of others) {
    if (isMethod(call.method)) respond(call, run(call))
    else respond(call, { error: unknownMethod(call.method) })
    if (call.method === 'close') endThread()
  }
}

function receiveWaiting (): Received[] {
  const waiting: Received[] = []
  for (const port of ports) {
    for (;;) {
      const next: { message: EngineCall } | undefined = receiveMessageOnPort(port)
      if (next === undefined) break
      waiting.push({ ...next.message, port })
    }
  }
  return waiting
}

function commit (batches: ReadonlyArray<Received<'addMany'>>): void {
  const plants = batches.flatMap(({ args: [plants] }) => plants)
  const together = explain(attempt(() => execute('addMany', [plants])))
  let first = 0
  for (const batch of batches) {
    const end = first + batch.args[0].length
    const isStored = 'result' in together
    respond(batch, isStored ? { result: together.result.slice(first, end) } : together)
    first = end
  }
}

function respond ({ port, id }: Received, reply: Reply<unknown>): void {
  port.postMessage({ id, ...reply } satisfies EngineReply)
}

/** A thread ends when its ports are closed, and then SQLite closes the file. */
function endThread (): void {
  for (const port of ports) port.close()
  if (!(changed instanceof FileLeft)) parentPort?.close()
}

function run (call: EngineCall): Reply<unknown> {
  if (call.method === 'close') return attempt(closeInPlace)
  const { method, args } = call
  return explain(attempt(() => execute(method, args)))
}

/** Without it, the log would not have the path. */
function explain<Result> (reply: Reply<Result>): Reply<Result> {
  if ('result' in reply) return reply
  const { message } = reply.error as Error
  const problem = `the database ${path} cannot be used: ${message}`
  return { error: new Error(problem, { cause: reply.error }) }
}

function execute<Name extends Statement> (method: Name, args: Args[Name]): Results[Name] {
  if (changed !== undefined) throw changed
  database ??= open()
  return database.statements[method](...args)
}

function attempt<Result> (work: () => Result): Reply<Result> {
  try {
    return { result: work() }
  } catch (error) {
    if (error instanceof FileChanged) {
      stopFor(error)
      rollBack()
      return { error }
    }
    if (isLocked(error)) {
      return { error: new Error('another process has locked the file; end that process') }
    }
    // Keep it open: to open it again truncates its index, and access to an index that has no space
    // on the disk ends the process (SIGBUS). Without rights on the folder nothing shows whether the
    // files are in place, so that the connection must not end either.
    if ((isFailedWrite(error) || isFailedLook(error)) && database !== undefined) {
      rollBack()
      return { error: withWayOut(error) }
    }
    try {
      return { error: endConnection(error) }
    } catch (left) {
      stopFor(left as FileLeft)
      return { error: left }
    }
  }
}

function isFailedLook (error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall === 'stat'
}

/**
 * Closes the file: the next call opens it again, and SQLite recovers it.
 * @returns the error for the caller
 * @throws FileLeft when the connection must not end
 */
function endConnection (error: unknown): unknown {
  const isRemoved = error instanceof LogRemoved
  // A full disk or a reader may prevent it: each call tries again.
  if (isRemoved && database?.merge() === false) return new Error(unmerged, { cause: error })
  close()
  checkLogAfter(error, () => stat(`${path}-wal`)?.size ?? 0n)
  // Otherwise somebody may put the old log back when there is a newer one.
  if (isRemoved) changed = new FileChanged(error.message)
  return withWayOut(error)
}

const unmerged = 'its log or index was removed or replaced, and a full disk or another process ' +
  'prevents that the file gets its last plants; end that before you stop the service'

function rollBack (): void {
  if (database?.connection.isTransaction) database.connection.exec('ROLLBACK')
}

function stopFor (change: FileChanged): void {
  const isKnown = changed instanceof FileLeft
  changed = change
  if (isKnown || !(change instanceof FileLeft)) return
  parentPort?.postMessage('left')
  if (!(change instanceof FileUnsynced)) return
  const warning = writeMark(path)
  if (warning !== undefined) parentPort?.postMessage({ warning })
}

const files = `${basename(path)}, ${basename(path)}-wal and ${basename(path)}-shm`
const letWrite = `let the user of the service write to its folder and to ${files}, on a disk ` +
  'that is not mounted read-only'

const anotherFolder = 'name a file in another folder in DATABASE_URL'

const undoChange = 'undo the change of its table plants, of a migration or of a statement in ' +
  'src/stores/sqlite/worker.ts, or restore the file from a backup'

/** By Node's code or call, or SQLite's code, extended or primary; see "Result Codes" of SQLite. */
const waysOut: Readonly<Record<string, string>> = {
  EACCES: `let the user of the service read and write its folder and ${files} (chown, ` +
    `chmod), or ${anotherFolder}`,
  // A file, or a link to a folder that is not there.
  EEXIST: `mount or make the folder if that is a link to it, or ${anotherFolder}`,
  EPERM: letWrite, // an immutable file
  EROFS: letWrite,
  mkdir: anotherFolder,
  1: undoChange, // SQLITE_ERROR: a table or column is missing, or a statement is wrong.
  8: letWrite, // SQLITE_READONLY
  // SQLITE_IOERR: also for a disk that is too full for the index, which has 32 KiB.
  10: 'look at the space (df), the inodes (df -i) and the system log of its disk, and at the ' +
    'limit of the size of files (ulimit -f)',
  // SQLITE_CORRUPT
  11: `put its log beside it as ${basename(path)}-wal if it was moved without, or restore it ` +
    'from a backup',
  13: 'free some space', // SQLITE_FULL
  // SQLITE_CANTOPEN
  14: `${letWrite} and has free inodes (df -i)`,
  19: undoChange, // SQLITE_CONSTRAINT
  26: 'name another file, or restore this one from a backup', // SQLITE_NOTADB
  // SQLITE_CONSTRAINT_DATATYPE: as of an integer without a format, which may be 1e300.
  3091: 'give the member and its column the same type (docs/build/add-a-member.md)'
}

function withWayOut (error: unknown): unknown {
  const { errcode, code, syscall, message } = error as NodeJS.ErrnoException & { errcode?: number }
  const keys = [code, syscall, errcode, Number(errcode) & 0xff]
  const wayOut = keys.map(key => waysOut[`${key}`]).find(known => known !== undefined)
  return wayOut === undefined ? error : new Error(`${message}; ${wayOut}`, { cause: error })
}

/**
 * Whether a transaction could not begin because of another process. Then there is nothing to
 * recover.
 */
function isLocked (error: unknown): boolean {
  return isBusy(error) && database?.connection.isTransaction !== true
}

function close (): void {
  database?.close()
  database = undefined
}

/** @throws Error when the file is elsewhere by now: SQLite has left its log alone then. */
function closeInPlace (): void {
  if (changed instanceof FileLeft) return
  const wasInPlace = isInPlace()
  // A deleted file has no name left.
  const isElsewhere = firstFile !== undefined && fstatSync(firstFile).nlink > 0
  const isMerged = database?.merge() ?? true
  close()
  // The thread leaves it open.
  if (firstFile !== undefined) closeSync(firstFile)
  firstFile = undefined
  const log = `${path}-wal`
  if (wasInPlace && !isMerged) {
    if (stat(log) === undefined) {
      throw new Error(`The log of the database ${path} was removed with its last plants.`)
    }
    const problem = `${log} alone has the last plants of ${path}`
    const reason = 'a full disk or another process prevented that the file gets them'
    const warning = `${problem}: ${reason}. Keep both together for the next start.`
    parentPort?.postMessage({ warning })
  }
  if (!wasInPlace && stat(log) !== undefined) {
    const problem = `The database ${path} was removed or replaced`
    const wayOut = 'Put the file back before the next start.'
    throw new Error(`${problem}, and ${log} may have plants of it. ${wayOut}`)
  }
  if (!wasInPlace && isElsewhere) {
    const problem = `The database ${path} was moved together with its log`
    throw new Error(`${problem}, which may have plants of it. Keep both together.`)
  }
}

function isInPlace (): boolean {
  return firstIdentity === undefined || identify(stat(path)) === firstIdentity
}

interface Database {
  connection: DatabaseSync
  statements: { [Name in Statement]: (...args: Args[Name]) => Results[Name] }
  /** Merges the log into the file. Returns whether the file has all of it. */
  merge: () => boolean
  close: () => void
}

function open (): Database {
  const file = stat(path)
  if (firstIdentity !== undefined && identify(file) !== firstIdentity) throw fileMoved()
  makeDirectory(dirname(path))
  checkMark(path)
  checkFiles(path)
  if (file === undefined) markCreation(path)
  const connection = new DatabaseSync(path, { timeout: lockWaitMs, readBigInts: true })
  const descriptors: number[] = []
  let watch: FileWatch | undefined
  const merge = () => {
    if (watch?.isCurrent() === false) throw new FileLeft(takenOver)
    return isInPlace() && mergeAtEnd(connection)
  }
  const close = () => {
    merge()
    // A reader may have prevented that the whole log was merged.
    if (firstFile !== undefined) syncFile(firstFile)
    connection.close()
    for (const descriptor of descriptors) closeSync(descriptor)
  }
  try {
    setUpFile(connection, path)
    syncFolder(dirname(path))
    if (firstIdentity === undefined) {
      firstIdentity = identify(stat(path))
      firstFile = openSync(path, 'r')
    }
    watch = watchFiles(connection, path, descriptors)
    const statements = prepareStatements(connection, watch)
    removeMark(path)
    return { connection, statements, merge, close }
  } catch (error) {
    // Until it is closed.
    leftOpen.add(connection)
    if (error instanceof FileLeft) throw error
    close()
    leftOpen.delete(connection)
    // A process that has locked the empty file may be creating the database.
    if (file === undefined && !isLocked(error) && (stat(path)?.size ?? 0n) === 0n) {
      rmSync(path, { force: true })
      rmSync(creationMark(path), { force: true })
    }
    throw error
  }
}

const takenOver = 'another program has removed, emptied or restarted its log or index; ' +
  'restart the service, and restore a backup if plants are missing'

function prepareStatements (
  connection: DatabaseSync,
  { write, read }: FileWatch
): Database['statements'] {
  const cells = Object.values(columns)
  const insert = connection.prepare(`INSERT INTO plants (${columnNames})
    VALUES (${cells.map(() => '?').join(', ')}) ON CONFLICT (id) DO NOTHING`)
  const find = connection.prepare(`SELECT ${columnNames} FROM plants WHERE id = ?`)
  const select = connection.prepare(`SELECT ${columnNames} FROM plants
    WHERE id >= ? ORDER BY id LIMIT ?`)
  const count = connection.prepare('SELECT count(*) AS count FROM plants')

  function add (plant: NewPlant): Outcome {
    if (insert.run(...cells.map(({ value }) => value(plant))).changes === 1n) return 'added'
    const stored = find.get(plant.id)
    if (stored === undefined) throw new Error('a trigger of its table plants drops rows; remove it')
    return isSamePlant(plant, toPlant(stored)) ? 'unchanged' : 'conflict'
  }
  // A commit that writes nothing syncs nothing.
  const writeNothing = () => writeVersion(connection)
  return implement({
    addMany: plants => write(() => {
      const outcomes = plants.map(add)
      // Another program may have stored a plant without a sync.
      if (!outcomes.includes('added') && outcomes.includes('unchanged')) writeNothing()
      return outcomes
    }),
    page: (from, limit) => read(() => select.all(from, limit)).map(toPlant),
    count: () => read(() => Number(count.get()?.count)),
    // Writes, because a full disk still allows reads and locks.
    check: () => write(writeNothing)
  })
}

function toPlant (row: Record<string, unknown>): NewPlant {
  const { id, name, tag } = row as Row
  return plantOf({ id, name, tag: tag ?? undefined })
}

/** The table is STRICT, so that its columns have these types. */
type Row = { id: bigint, name: string, tag: string | null }
