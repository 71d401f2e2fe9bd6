// Checks the open files of a SQLite database at each write, and merges the log into the file.
// Plants that are written to other files, or to changed ones, would be lost.
import { openSync, readSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { FileChanged, isFailedWrite, LogRemoved, merge, syncFile } from './checkpoint.ts'
import { fileMoved, identify, stat } from './file-checks.ts'
import { transaction, writeVersion } from './schema.ts'
import { isPartlyMerged, logBytes, readIndex, type WalIndex } from './wal-index.ts'

/** Pages of the log from which each commit tries a checkpoint: SQLite's default. */
const pagesOfCheckpoint = 1000
/** Pages after which a failed checkpoint is tried again: the log takes what is freed meanwhile. */
const pagesOfRetry = 100
/** Pages of the log up to which plants are stored although checkpoints cannot write. */
const maxPagesUnmerged = 10 * pagesOfCheckpoint

/**
 * Looks after the open files: plants written to others, or read from others, would be lost.
 * @param descriptors gets those to close after the connection: to close a descriptor of a file ends
 *   the locks of this process on it (POSIX)
 */
export function watchFiles (connection: DatabaseSync, path: string, descriptors: number[]) {
  const page = connection.prepare('PRAGMA page_size').get() as { page_size: bigint }
  const pageSize = Number(page.page_size)
  const names = [path, `${path}-wal`, `${path}-shm`] as const
  const open = (name: string) => {
    const descriptor = openSync(name, 'r')
    descriptors.push(descriptor)
    return descriptor
  }
  const [log, index] = [open(`${path}-wal`), open(`${path}-shm`)]
  const file = open(path)
  // A reader may have prevented that the first checkpoint merged the whole log.
  syncFile(file)
  let last = observeFiles(names, index)
  /** Pages of the log from which the next commit tries a checkpoint. */
  let pagesOfNext = pagesOfCheckpoint

  /** @throws Error unless the open files are in place, and changed by SQLite alone */
  function checkPlace (): void {
    const now = observeFiles(names, index)
    const changed = now.files.findIndex((file, nth) => file !== last.files[nth])
    if (changed === 0) throw fileMoved()
    if (changed !== -1) throw new LogRemoved(logMoved)
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
        pagesOfNext = pages + pagesOfRetry
        return
      }
      throw error
    }
    const now = readIndex(index)
    if (isPartlyMerged(now) && now.merged !== last.index.merged) syncFile(file)
  }

  /**
   * Whether the index is that of the open log. Another process that finds no log begins another,
   * and shares the index or has begun that, too: a merge by this index would damage the file.
   */
  function isCurrent (): boolean {
    const found = identify(stat(`${path}-shm`))
    const isReplaced = found !== undefined && found !== last.files[2]
    // Whoever uses another index has made a log.
    if (isReplaced && stat(`${path}-wal`) !== undefined) return false
    for (;;) {
      const before = readIndex(index)
      const salt = readSalt(log)
      const { pages, salt: ofIndex } = before
      if (isDeepStrictEqual(readIndex(index), before)) return pages === 0 || ofIndex === salt
    }
  }

  /** Checks the files before the commit and after it: they may change at any time. */
  function write<Result> (work: () => Result): Result {
    const result = transaction(connection, () => {
      checkPlace()
      checkLog()
      // The log begins: its first page tells the next start of which state of the file it is.
      if (last.index.merged === last.index.pages) writeVersion(connection)
      return work()
    })
    checkPlace()
    const { merged, pages } = last.index
    if (pages >= pagesOfNext && merged !== pages) checkpoint(pages)
    return result
  }

  /** Checks the files after it: SQLite reads pages of the wrong log when another has begun one. */
  function read<Result> (work: () => Result): Result {
    const result = work()
    checkPlace()
    return result
  }

  return { write, read, isCurrent }
}

export type FileWatch = ReturnType<typeof watchFiles>

/** The salt in the header of the log, as the index has it. */
function readSalt (descriptor: number): number {
  const words = new Uint32Array(1)
  readSync(descriptor, words, { position: 16 })
  return words[0] as number
}

const logMoved = 'its log or index was removed or replaced; its plants are in the file; ' +
  'restart the service, and never put the old log back'

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

/** Bytes and time of the last change of the database file, and which files there are. */
interface Observation {
  size: bigint
  time: bigint
  files: Array<string | undefined>
  index: WalIndex
}

/**
 * Looks at files and index of one moment: checkpoints of other processes change both.
 * @throws Error when there is no database file
 */
function observeFiles (
  names: readonly [path: string, ...others: string[]],
  descriptor: number
): Observation {
  let index = readIndex(descriptor)
  for (;;) {
    const files = names.map(stat)
    const before = index
    index = readIndex(descriptor)
    if (!isDeepStrictEqual(index, before)) continue
    const [file] = files
    if (file === undefined) throw fileMoved()
    return { size: file.size, time: file.mtimeNs, files: files.map(identify), index }
  }
}
