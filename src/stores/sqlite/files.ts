// Checks the files of a SQLite database: plants that are written to others, or to changed ones,
// would be lost.
import {
  closeSync, existsSync, lstatSync, openSync, readFileSync, readSync, realpathSync, statSync
} from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { FileChanged, merge, syncFile } from './checkpoint.ts'
import { creationMark, transaction } from './schema.ts'

/** The smallest page size in bytes; a database is never smaller. */
const smallestSize = 512n
/** How long another process may take to create the database. */
const creationWaitMs = 500

/**
 * Refuses what is no file for a database, and files that belong to another one.
 * @param mounts a file with the mounts of Linux
 */
export function checkFiles (path: string, mounts = '/proc/self/mountinfo'): void {
  const file = lstatSync(path, { throwIfNoEntry: false })
  if (file?.isDirectory()) throw new Error('it is a folder; name a file in it')
  // SQLite has its log beside the target; the checks look beside the link.
  if (file?.isSymbolicLink()) throw new Error('it is a symbolic link; name the file itself')
  // SQLite names the log after the path: each name would have another log.
  if (file !== undefined && file.nlink > 1) {
    throw new Error('its file has another hard link, by which SQLite would lose plants')
  }
  if (file !== undefined && readMountPoints(mounts).includes(realpathSync(path))) {
    // SQLite has its log beside the mount: a container would lose it, two would have one each.
    throw new Error('it is mounted without its folder, which has the log; mount the folder instead')
  }
  const log = `${path}-wal`
  if (file === undefined && (stat(log)?.size ?? 0n) > 0n) {
    // SQLite would delete the log.
    const wayOut = 'put the file back, or remove the log'
    throw new Error(`its file is missing, but ${log} has plants of it; ${wayOut}`)
  }
  checkSize(path)
  const isUsable = () => stat(log) !== undefined || isBeingCreated(path) || !needsLog(path)
  if (!becomesTrue(isUsable)) {
    const wayOut = 'put the log back, or remove the file to start with an empty one'
    throw new Error(`it is empty without its log ${log}; ${wayOut}`)
  }
}

/**
 * The mount points of Linux: the fifth word of each line, in which octal numbers stand for blanks.
 * See proc(5). Other systems have no such table.
 */
function readMountPoints (table: string): string[] {
  if (!existsSync(table)) return []
  const unescape = (_: string, octal: string) => String.fromCharCode(parseInt(octal, 8))
  const points: string[] = []
  for (const line of readFileSync(table, 'utf8').trimEnd().split('\n')) {
    points.push(String(line.split(' ')[4]).replaceAll(/\\([0-7]{3})/g, unescape))
  }
  return points
}

/**
 * Whether the file has no table yet: all that was written is in its log. See "Database File Format"
 * of SQLite.
 */
function needsLog (path: string): boolean {
  if (stat(path) === undefined) return false
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  readSync(file, header)
  closeSync(file)
  const [writeVersion, schemaCookie] = [header[18], header.readUInt32BE(40)]
  return writeVersion === 2 && schemaCookie === 0
}

/** A database with plants has neither a rollback journal nor the mark. */
function isBeingCreated (path: string): boolean {
  return existsSync(`${path}-journal`) || existsSync(creationMark(path))
}

/**
 * SQLite treats a file this small as new. Another process may be creating it: wait, then refuse it
 * as truncated, unless its creation was interrupted.
 */
function checkSize (path: string): void {
  const isWhole = () => (stat(path)?.size ?? smallestSize) >= smallestSize
  if (becomesTrue(isWhole) || isBeingCreated(path)) return
  const wayOut = 'restore it from a backup, or remove it to start with an empty one'
  throw new Error(`its file is too small for a database; ${wayOut}`)
}

/** Waits until another process has created the database. */
function becomesTrue (condition: () => boolean): boolean {
  const until = performance.now() + creationWaitMs
  while (!condition()) {
    if (performance.now() > until) return false
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, creationWaitMs / 10)
  }
  return true
}

export function stat (file: string) {
  return statSync(file, { bigint: true, throwIfNoEntry: false })
}

/** Pages of the log from which each commit tries a checkpoint: SQLite's default. */
const pagesOfCheckpoint = 1000
/** Pages of the log up to which plants are stored although checkpoints cannot write. */
const maxPagesUnmerged = 10 * pagesOfCheckpoint

/**
 * Returns write(), which fails unless the open files are in place and complete: plants written to
 * others would be lost.
 * @param descriptors gets those to close after the connection: to close a descriptor of a file ends
 *   the locks of this process on it (POSIX)
 */
export function watchFiles (connection: DatabaseSync, path: string, descriptors: number[]) {
  const page = connection.prepare('PRAGMA page_size').get() as { page_size: bigint }
  const pageSize = Number(page.page_size)
  const names = [path, `${path}-wal`, `${path}-shm`]
  const open = (name: string) => {
    const descriptor = openSync(name, 'r')
    descriptors.push(descriptor)
    return descriptor
  }
  const index = open(`${path}-shm`)
  const file = open(path)
  // A reader may have prevented that the first checkpoint merged the whole log.
  syncFile(file)
  let last = observeFiles(names, index)
  /** Pages of the log from which the next commit tries a checkpoint. */
  let pagesOfNext = pagesOfCheckpoint

  function checkPlace (): void {
    const now = observeFiles(names, index)
    if (now.inodes.some((inode, nth) => inode !== last.inodes[nth])) throw new Error(moved)
    if (isChangedByOthers(now, last, pageSize)) {
      const wayOut = 'restart the service, which checks it'
      throw new FileChanged(`its file was changed by another program; ${wayOut}`)
    }
    // Another process may have used VACUUM.
    if (now.size < last.size) throw new Error('its file is shorter than before')
    last = now
  }

  /** Call it inside a transaction, when no other process truncates the log. */
  function checkLog (): void {
    if (statSync(`${path}-wal`).size >= logBytes(readIndex(index), pageSize)) return
    const wayOut = 'stop the service and restore a backup'
    const problem = 'its write-ahead log was truncated, and plants of it are lost'
    throw new FileChanged(`${problem}; ${wayOut}`)
  }

  /**
   * Merges the log into the file. SQLite syncs the file only when all pages of the log are merged,
   * which a reader prevents. A failed write, as on a full disk, loses nothing: the log is synced,
   * and the index counts no page of this checkpoint, so that a later one writes them all again.
   * @throws FileUnsynced when a sync fails
   */
  function checkpoint (pages: number): void {
    pagesOfNext = pagesOfCheckpoint
    try {
      merge(() => connection.exec('PRAGMA wal_checkpoint(PASSIVE)'))
    } catch (error) {
      if (isFailedWrite(error) && pages < maxPagesUnmerged) {
        pagesOfNext = pages + pagesOfCheckpoint
        return
      }
      throw error
    }
    const now = readIndex(index)
    if (isPartlyMerged(now) && now.merged !== last.index.merged) syncFile(file)
  }

  /** Checks the files before the commit and after it: they may change at any time. */
  return function write<Result> (work: () => Result): Result {
    const result = transaction(connection, () => {
      checkPlace()
      checkLog()
      return work()
    })
    checkPlace()
    const { merged, pages } = last.index
    if (pages >= pagesOfNext && merged !== pages) checkpoint(pages)
    return result
  }
}

const moved = 'its file was removed or replaced'

/** SQLITE_FULL, and SQLITE_IOERR_WRITE for a quota or a limit of the size of files. */
export function isFailedWrite (error: unknown): boolean {
  return [13, 778].includes(Number((error as { errcode?: number }).errcode))
}

function isPartlyMerged ({ merged, pages }: Index): boolean {
  return merged > 0 && merged !== pages
}

/** Only a checkpoint writes to the file, and it leaves its traces in the index. */
function isChangedByOthers (now: Observation, last: Observation, pageSize: number): boolean {
  const { pages, salt, merged, attempted, total } = now.index
  // A checkpoint is under way, or its process has died.
  if (merged !== attempted) return false
  const isSameCheckpoint = salt === last.index.salt &&
    merged === last.index.merged && attempted === last.index.attempted
  if (isSameCheckpoint && now.time !== last.time) return true
  // Once all pages of the log are in the file, it has all pages of the database, and no others.
  return merged === pages && total > 0 && now.size !== BigInt(total * pageSize)
}

/** Bytes and time of the last change of the database file, and the inodes of all files. */
interface Observation {
  size: bigint
  time: bigint
  inodes: Array<bigint | undefined>
  index: Index
}

/**
 * Looks at files and index of one moment: checkpoints of other processes change both.
 * @throws Error when there is no database file
 */
function observeFiles (names: readonly string[], descriptor: number): Observation {
  let index = readIndex(descriptor)
  for (;;) {
    const files = names.map(stat)
    const before = index
    index = readIndex(descriptor)
    if (!isDeepStrictEqual(index, before)) continue
    const [file] = files
    if (file === undefined) throw new Error(moved)
    return { size: file.size, time: file.mtimeNs, inodes: files.map(file => file?.ino), index }
  }
}

/**
 * The start of the shared index; see "WAL-Index File Format" of SQLite. Its words have the order of
 * the machine.
 */
interface Index {
  /** Pages in the log. */
  pages: number
  /** Pages in the database; 0 when the log was opened empty. */
  total: number
  /** Changes when the log starts again. */
  salt: number
  /** Pages of the log that are in the file by now, and pages that a checkpoint began to write. */
  merged: number
  attempted: number
}

const words = new Uint32Array(33)

function readIndex (descriptor: number): Index {
  readSync(descriptor, words, { position: 0 })
  const read = (index: number) => words[index] as number
  return { pages: read(4), total: read(5), salt: read(8), merged: read(24), attempted: read(32) }
}

/** The size that the log has at least: a header of 32 bytes, and 24 more bytes for each page. */
function logBytes ({ pages }: Index, pageSize: number): number {
  return pages === 0 ? 0 : 32 + pages * (pageSize + 24)
}
