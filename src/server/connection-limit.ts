// Keeps connections from using up the memory and the file descriptors of the process.
import type { Server, Socket } from 'node:net'
import { oncePerMinute } from '../telemetry/log.ts'
import { memoryLimit } from './memory-limit.ts'

/** Descriptors for the database, the log and the tokens, and for each further thread. */
const reserved = 64
const reservedForThread = 16

/** How many connections may be open, and why. */
export interface ConnectionLimit { limit: number, reason: string }

export const unlimited: ConnectionLimit = { limit: Infinity, reason: '' }

/** Memory of a connection whose client does not read, in Node and in the system. */
const unsentBytes = 256 * 1024

/**
 * The limit of connections. By default they take at most half of the memory, each with a body of `bodyLimit` bytes or
 * with a response that nobody reads. Each may have two files open: its own and one that it reads.
 * All threads together have this limit.
 */
export function connectionLimit (
  { maxConnections: wanted, bodyLimit }: { maxConnections: number | undefined, bodyLimit: number },
  threads: number,
  warn: (sentence: string) => void
): ConnectionLimit {
  const byMemory = Math.max(100, Math.floor(threads * memoryLimit(threads) / 2 / Math.max(bodyLimit, unsentBytes)))
  const openFiles = limitOfOpenFiles()
  const forConnections = openFiles - reserved - (threads - 1) * reservedForThread
  const byFiles = Math.floor(Math.max(forConnections, openFiles / 2) / 2)
  const limit = wanted ?? Math.min(byMemory, 10_000)
  if (limit > byFiles) {
    const reason = `the process may open ${openFiles} files (ulimit -n), and a connection needs two`
    if (wanted !== undefined) warn(`MAX_CONNECTIONS is lowered to ${byFiles}: ${reason}.`)
    return { limit: byFiles, reason }
  }
  return { limit, reason: wanted === undefined ? 'MAX_CONNECTIONS is not set' : 'that is MAX_CONNECTIONS' }
}

/**
 * Closes connections beyond the limit at once. Without a descriptor Node would close them too, but not report it.
 * @param open connections of each thread, and the index of this one
 */
export function limitConnections (
  server: Server,
  { limit, reason }: ConnectionLimit,
  open: { connections: Int32Array, thread: number },
  warn: (sentence: string) => void,
  onRefused: () => void
): void {
  const report = oncePerMinute(count => {
    warn(`Connections refused: ${count}. ${limit} are open already; ${reason}.`)
  })
  const { connections, thread } = open
  // Node compares it to the connections of this thread.
  const ofOthers = () => connections.reduce((sum, open, index) => index === thread ? sum : sum + open, 0)
  Object.defineProperty(server, 'maxConnections', { get: () => limit - ofOthers() })
  server.on('drop', report)
  server.on('drop', onRefused)
  server.on('connection', (socket: Socket) => {
    Atomics.add(connections, thread, 1)
    socket.once('close', () => Atomics.sub(connections, thread, 1))
  })
}

/** The soft limit, which Node raises to the hard limit when it starts. */
function limitOfOpenFiles (): number {
  // Otherwise Node looks up the names of all peers.
  Object.assign(process.report, { excludeNetwork: true })
  const report: { userLimits?: { open_files?: { soft: number | 'unlimited' } } } = process.report.getReport()
  const soft = report.userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Infinity
}
