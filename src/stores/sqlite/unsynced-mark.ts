// A file beside the database after a failed sync. In the same boot of the machine the next start
// would merge the log again: the sync would succeed although the disk has not got the pages.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectory } from '../../private-files.ts'

/** Linux has another id here after each boot; containers have that of their machine. */
const systemBootId = '/proc/sys/kernel/random/boot_id'

const markOf = (path: string) => `${path}-unsynced`

/**
 * Writes the mark. Without a boot id it refuses each start until it is removed.
 * @returns a sentence when it may not be on the disk
 */
export function writeMark (path: string, bootId = systemBootId): string | undefined {
  const mark = markOf(path)
  try {
    writeFileSync(mark, readBootId(bootId) ?? '', { flush: true })
    syncDirectory(dirname(path))
    return undefined
  } catch (error) {
    const problem = `A sync of the database ${path} has failed, and so has the file ${mark} ` +
      `that prevents a start until the cache is empty: ${(error as Error).message}.`
    const wayOut = 'Restart the machine, or unmount and mount the file system,'
    return `${problem} ${wayOut} before the next start.`
  }
}

/** @throws Error when the mark is of this boot, or of one that is not known */
export function checkMark (path: string, bootId = systemBootId): void {
  const mark = markOf(path)
  if (!existsSync(mark)) return
  const [marked, current] = [readBootId(mark), readBootId(bootId)]
  if (marked !== undefined && current !== undefined && marked !== current) return
  const problem = 'a sync of it has failed, and its pages may be only in the cache of this machine'
  const wayOut = 'restart the machine, or unmount and mount the file system; then remove'
  throw new Error(`${problem}; ${wayOut} ${mark} if it is still there`)
}

/** Call it when the log is merged and synced. */
export function removeMark (path: string): void {
  rmSync(markOf(path), { force: true })
}

/** A full disk may have left a mark without its id. */
function readBootId (file: string): string | undefined {
  try {
    return /^[0-9a-f-]{36}$/.exec(readFileSync(file, 'utf8').trim())?.[0]
  } catch {
    return undefined
  }
}
