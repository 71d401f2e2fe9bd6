// Merges the log into the file. When a sync of the file fails, the log is the only good copy: Linux
// keeps pages in its cache that never reach the disk, and a later sync reports no failure.
import { fsyncSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { syncDirectory } from '../../private-files.ts'
import { becomesTrue } from './wait.ts'

/** Milliseconds that a checkpoint of another process may take. */
const mergeWaitMs = 1000

/**
 * A file is not what SQLite has written. Closing the connection would write more: only a restart
 * checks the files.
 */
export class FileChanged extends Error {}

/** The log has lost its name: only the open connection can merge it. */
export class LogRemoved extends Error {}

/** The connection must stay open until the process is killed: SQLite merges the log at its end. */
export class FileLeft extends FileChanged {}

/**
 * Pages that a checkpoint has written may not be on the disk. The log must stay as it is until the
 * file system has been mounted again, which empties the cache.
 */
export class FileUnsynced extends FileLeft {}

/**
 * Runs a checkpoint. SQLite does not say whether the failed sync was of the log or of the file.
 * @throws FileUnsynced when a sync fails
 */
export function merge<Result> (checkpoint: () => Result): Result {
  try {
    return checkpoint()
  } catch (error) {
    throw isFailedSync(error) ? unsynced(error as Error) : error
  }
}

/**
 * Call it before the connection ends: SQLite's own checkpoint at the end hides a failed sync. Other
 * failures leave the log, which the next start merges.
 * @returns whether the file has the whole log
 * @throws FileUnsynced when a sync fails
 */
export function mergeAtEnd (connection: DatabaseSync): boolean {
  try {
    if (connection.isTransaction) connection.exec('ROLLBACK')
    connection.exec('PRAGMA busy_timeout = 0')
    const checkpoint = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)')
    let counts: Record<string, unknown> | undefined
    const isMine = () => {
      counts = merge(() => checkpoint.get())
      return counts?.busy === 0n
    }
    return becomesTrue(isMine, mergeWaitMs) && counts?.log === counts?.checkpointed
  } catch (error) {
    if (error instanceof FileUnsynced) throw error
    return false
  }
}

/** @throws FileUnsynced when the sync fails */
export function syncFile (descriptor: number): void {
  sync(() => fsyncSync(descriptor))
}

/**
 * SQLite ignores a failed sync of the folder, which has the names of the file and of its log.
 * @throws FileUnsynced when the sync fails
 */
export function syncFolder (path: string): void {
  sync(() => syncDirectory(path))
}

/** Node's permission model has no fsync, and some file systems have none for folders (EINVAL). */
const codesWithoutSync: unknown[] = ['ERR_ACCESS_DENIED', 'EINVAL']

function sync (work: () => void): void {
  try {
    work()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (!codesWithoutSync.includes(code)) throw unsynced(cause as Error)
  }
}

/**
 * Call it after the connection has ended, which merges the log. If the log is still there after a
 * failed sync of it, its last pages may be in the cache alone, and a later sync reports no failure:
 * to recover it would merge pages that the disk does not have.
 * @param error why the connection was ended
 * @param logSize returns the bytes of the log; it throws in a folder that may not be entered
 * @throws FileUnsynced
 */
export function checkLogAfter (error: unknown, logSize: () => bigint): void {
  if (isFailedSync(error) && logSize() > 0n) throw unsynced(error as Error)
}

function unsynced (cause: Error): FileUnsynced {
  const problem = `its pages may not be on the disk (${cause.message})`
  const wayOut = 'end all programs that use it, and restart the machine, or unmount and mount ' +
    'the file system'
  return new FileUnsynced(`${problem}; ${wayOut}`, { cause })
}

/** SQLITE_FULL, and SQLITE_IOERR_WRITE for a quota or a limit of the size of files. */
export function isFailedWrite (error: unknown): boolean {
  return [13, 778].includes(Number((error as { errcode?: number }).errcode))
}

/** SQLITE_IOERR_FSYNC; see "Result Codes" of SQLite. */
function isFailedSync (error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 1034
}

/** SQLITE_BUSY: another process has locked the file. */
export function isBusy (error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5
}
