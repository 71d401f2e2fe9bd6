// Checks the files of a SQLite database before they are opened: plants that are written to others
// would be lost.
import {
  accessSync, closeSync, constants, existsSync, lstatSync, openSync, readFileSync, readSync,
  realpathSync, statSync
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isOfFile, readCounters } from './log-age.ts'
import { checkOwner, creationMark } from './schema.ts'
import { becomesTrue } from './wait.ts'

/** The smallest page size in bytes; a database is never smaller. */
const smallestSize = 512n
/** Milliseconds that another process may take to create the database. */
const creationWaitMs = 500

/**
 * Refuses what is no file for a database, and files that belong to another one.
 * @param mounts a file with the mounts of Linux
 */
export function checkFiles (path: string, mounts = '/proc/self/mountinfo'): void {
  const log = `${path}-wal`
  // Before the file, which another process may be creating: it creates the log last.
  const logged = stat(log)
  const file = lstatSync(path, { throwIfNoEntry: false })
  if (file?.isDirectory()) throw new Error('it is a folder; name a file in it')
  // SQLite has its log beside the target; the checks look beside the link.
  if (file?.isSymbolicLink()) throw new Error('it is a symbolic link; name the file itself')
  if (file?.isFile() === false) throw new Error('it is not a regular file; name one')
  // SQLite names the log after the path: each name would have another log.
  if (file !== undefined && file.nlink > 1) {
    const reason = 'its file has another hard link, by which SQLite would lose plants'
    throw new Error(`${reason}; remove that link (find -samefile)`)
  }
  // SQLite would make a log and an index with the mode of the file, and leave them.
  if (file !== undefined) accessSync(path, constants.W_OK)
  checkMount(path, readMounts(mounts))
  if (logged?.isDirectory()) throw new Error(`its log ${log} is a folder; remove it`)
  if (file === undefined && (logged?.size ?? 0n) > 0n) {
    // SQLite would delete the log.
    const wayOut = 'put the file back, or remove the log'
    throw new Error(`its file is missing, but ${log} has plants of it; ${wayOut}`)
  }
  checkSize(path)
  checkHeader(path)
  const isUsable = () => hasCommit(log) || isBeingCreated(path) || !needsLog(path)
  if (!becomesTrue(isUsable, creationWaitMs)) {
    const wayOut = 'end all programs that have it open, and put the log back if there is one; ' +
      'otherwise remove the file to start with an empty one'
    throw new Error(`it is empty without its log ${log}; ${wayOut}`)
  }
  if (file !== undefined && stat(log) !== undefined) checkAge(path, log)
}

function hasCommit (log: string): boolean {
  return stat(log) !== undefined && readCounters(log) !== undefined
}

/** Refuses a log that is older or newer than the file. */
function checkAge (path: string, log: string): void {
  const readCounter = () => readHeader(path).readUInt32BE(24)
  for (;;) {
    const counter = readCounter()
    const logged = readCounters(log)
    if (logged === undefined || isOfFile(logged, counter)) return
    // Otherwise another process has merged its log in this moment.
    if (readCounter() === counter) break
  }
  const problem = `its log ${log} is not of the present file, and would replace plants in it`
  throw new Error(`${problem}; move the log away, or put the file of the log back`)
}

interface Mount { point: string, type: string }

/**
 * Where processes of other machines do not share SQLite's shared memory (`-shm`). Not 9p and
 * virtiofs, which share the folders of one machine with its virtual ones.
 */
const networkTypes = new RegExp('^(?:nfs4?|cifs|smb3|smbfs|ceph|glusterfs|lustre|beegfs|gpfs|afs|' +
  'gfs2|ocfs2|fuse\\.(?:sshfs|glusterfs|ceph.*|juicefs|rclone|s3fs|smbnetfs))$')

function checkMount (path: string, mounts: Mount[]): void {
  const place = join(realpathSync(dirname(path)), basename(path))
  // A later mount hides those below its point.
  const holds = ({ point }: Mount) => `${place}/`.startsWith(point.replace(/\/?$/, '/'))
  const { point, type } = mounts.findLast(holds) ?? {}
  if (point === place) {
    // SQLite has its log beside the mount: a container would lose it, two would have one each.
    throw new Error('it is mounted without its folder, which has the log; mount the folder instead')
  }
  if (type === undefined || !networkTypes.test(type)) return
  const problem = `it is on a network file system (${type}), where two machines lose plants`
  throw new Error(`${problem}; use a disk of this machine, or PostgreSQL`)
}

/**
 * The mounts of Linux: the point is the fifth word of each line, in which octal numbers stand for
 * blanks, and the type follows a hyphen. See proc(5). Other systems have no such table.
 */
function readMounts (table: string): Mount[] {
  if (!existsSync(table)) return []
  const unescape = (_: string, octal: string) => String.fromCharCode(parseInt(octal, 8))
  const mounts: Mount[] = []
  for (const line of readFileSync(table, 'utf8').trimEnd().split('\n')) {
    const words = line.split(' ')
    const point = String(words[4]).replaceAll(/\\([0-7]{3})/g, unescape)
    mounts.push({ point, type: String(words[words.indexOf('-', 6) + 1]) })
  }
  return mounts
}

/**
 * Whether the file has no table yet: all that was written is in its log. See "Database File Format"
 * of SQLite.
 */
function needsLog (path: string): boolean {
  if (stat(path) === undefined) return false
  const header = readHeader(path)
  const [writeVersion, schemaCookie] = [header[18], header.readUInt32BE(40)]
  return writeVersion === 2 && schemaCookie === 0
}

/** Before SQLite opens the file, which merges the log and may change the journal mode. */
function checkHeader (path: string): void {
  if ((stat(path)?.size ?? 0n) < smallestSize) return
  const header = readHeader(path)
  if (header.toString('latin1', 0, 15) !== 'SQLite format 3') return
  checkOwner(header.readUInt32BE(68), header.readUInt32BE(60), header.readUInt32BE(40) === 0)
}

/** The header of the file, with zeros for what is missing. */
function readHeader (path: string): Buffer {
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  readSync(file, header)
  closeSync(file)
  return header
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
  if (becomesTrue(isWhole, creationWaitMs) || isBeingCreated(path)) return
  const wayOut = 'restore it from a backup, or remove it to start with an empty one'
  throw new Error(`its file is too small for a database; ${wayOut}`)
}

export function stat (file: string) {
  return statSync(file, { bigint: true, throwIfNoEntry: false })
}

export function fileMoved (): Error {
  const wayOut = 'put it back, or restart the service with a backup'
  return new Error(`its file was removed or replaced; ${wayOut}`)
}

/** Which file it is: a copy of a disk has the same inodes on another device. */
export function identify (file: ReturnType<typeof stat>): string | undefined {
  return file && `${file.dev} ${file.ino}`
}
