// How many connections the memory and the file descriptors of the process allow.
import { memoryLimit } from './memory-limit.ts'

/** Descriptors for the database, the log and the tokens, and for each further thread. */
const reserved = 64
const reservedForThread = 16

/** How many connections may be open in all threads together, and why. */
export interface ConnectionLimit { limit: number, reason: string }

/** Memory of a connection whose client does not read, in Node and in the system. */
const unsentBytes = 256 * 1024

/**
 * By default connections take at most half of the memory, each with a body of `bodyLimit` bytes or
 * with a response that nobody reads. Each may have two files open: its socket and one that it
 * reads.
 * @param name what the owner of the service calls maxConnections
 */
export function connectionLimit (
  { maxConnections, bodyLimit }: { maxConnections?: number | undefined, bodyLimit: number },
  threads: number,
  warn: (sentence: string) => void,
  name = 'maxConnections'
): ConnectionLimit {
  const openFiles = limitOfOpenFiles()
  const forConnections = openFiles - reserved - (threads - 1) * reservedForThread
  if (forConnections <= 0) {
    warn(`The process may open only ${openFiles} files (ulimit -n), and may need more to start.`)
  }
  const byFiles = Math.floor(Math.max(forConnections, openFiles / 2) / 2)
  const bytes = threads * memoryLimit(threads) / 2
  const byMemory = Math.max(100, Math.floor(bytes / Math.max(bodyLimit, unsentBytes)))
  const limit = maxConnections ?? Math.min(byMemory, 10_000)
  if (limit > byFiles) {
    const reason = `the process may open ${openFiles} files (ulimit -n), ` +
      'and a connection needs two'
    if (maxConnections !== undefined) warn(`${name} is lowered to ${byFiles}: ${reason}.`)
    return { limit: byFiles, reason }
  }
  if (maxConnections !== undefined) return { limit, reason: `that is ${name}` }
  const ofMemory = limit === byMemory ? 'half of the memory holds no more, and ' : ''
  return { limit, reason: `${ofMemory}${name} is not set` }
}

/** The soft limit, which Node raises to the hard limit when it starts. */
function limitOfOpenFiles (): number {
  // Otherwise Node looks up the names of all peers.
  Object.assign(process.report, { excludeNetwork: true })
  const report = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } }
  }
  const soft = report.userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Infinity
}
