// A small file that is read at startup and followed while the service runs, such as a mounted
// secret.
import { readFileSync, type Stats, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { getSystemErrorMessage } from 'node:util'

export interface FileContent {
  text: string
  /** The permissions of the file that symbolic links lead to. */
  mode: number
}

const maxBytes = 1024 * 1024
const pollIntervalMs = 500

/** @throws Error whose message completes a sentence that starts with the file's name */
export function readWatchedFile (path: string): FileContent {
  try {
    const mode = usableMode(statSync(path))
    return { text: readFileSync(path, 'utf8'), mode }
  } catch (error) {
    throw phrase(error)
  }
}

/**
 * Follows a file. Polling notices that a symbolic link was swapped, as mounted secrets are;
 * fs.watch() does not. A change counts once two reads in a row agree, so that a half-written file
 * is not taken for a new one.
 * @param onChange called with the new content, or with the error of a file that cannot be read
 * @returns a function that stops following the file
 */
export function followFile (
  path: string,
  first: FileContent,
  onChange: (found: FileContent | Error) => void
): () => void {
  const stop = new AbortController()
  const options = { ref: false, signal: stop.signal }
  const isDue = () => sleep(pollIntervalMs, true, options).catch(() => false)
  const follow = async () => {
    let reported: FileContent | Error = first
    let previous: FileContent | Error = first
    while (await isDue()) {
      const latest = await readAgain(path)
      const isChange = isSame(latest, previous) && !isSame(latest, reported)
      previous = latest
      if (isChange) onChange(reported = latest)
    }
  }
  follow()
  return () => stop.abort()
}

/** Reads without blocking the service, whose disk may hang. */
async function readAgain (path: string): Promise<FileContent | Error> {
  try {
    const mode = usableMode(await stat(path))
    return { text: await readFile(path, 'utf8'), mode }
  } catch (error) {
    return phrase(error)
  }
}

/** A pipe would block the start, and be empty when it is read again. */
function usableMode (stats: Stats): number {
  if (stats.isDirectory()) throw new Error('is a folder, but must be a file')
  if (!stats.isFile()) throw new Error('is not a regular file, which can be read again')
  if (stats.size > maxBytes) throw new Error('is larger than 1 MiB')
  return stats.mode & 0o777
}

function phrase (thrown: unknown): Error {
  const { errno, code } = thrown as NodeJS.ErrnoException
  if (errno === undefined) return thrown as Error
  return new Error(`cannot be read: ${getSystemErrorMessage(errno)} (${code})`, { cause: thrown })
}

function isSame (one: FileContent | Error, other: FileContent | Error): boolean {
  if (one instanceof Error) return other instanceof Error && other.message === one.message
  return !(other instanceof Error) && other.text === one.text && other.mode === one.mode
}
