// Keeps connections from using up the file descriptors of the process.
import type { Server } from 'node:net'

/** Descriptors for the database, the log and the tokens. */
const reserved = 64
/** A flood of connections writes one line in this time. */
const reportMs = 60_000

/** Node closes connections beyond the limit at once. Without a descriptor it would close them too, but not report it. */
export function limitConnections (server: Server, onRefused: (sentence: string) => void): void {
  const openFiles = limitOfOpenFiles()
  if (openFiles === undefined) return
  const limit = Math.max(openFiles - reserved, Math.ceil(openFiles / 2))
  let refused = 0
  let lastReport = -Infinity
  server.maxConnections = limit
  server.on('drop', () => {
    refused++
    if (performance.now() - lastReport < reportMs) return
    onRefused(`${refused} connections were refused: ${limit} are open already, and the process may open ` +
      `${openFiles} files. Raise that limit (ulimit -n) to allow more.`)
    lastReport = performance.now()
    refused = 0
  })
}

/** The soft limit, which Node raises to the hard limit when it starts. */
function limitOfOpenFiles (): number | undefined {
  // Otherwise Node looks up the names of all peers.
  Object.assign(process.report, { excludeNetwork: true })
  const report: { userLimits?: { open_files?: { soft: number | 'unlimited' } } } = process.report.getReport()
  const soft = report.userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : undefined
}
