// How many threads serve HTTP.
import { containerMemory } from 'fastify-openapi-contract/server'
import { availableParallelism, platform, totalmem } from 'node:os'
import v8 from 'node:v8'

/** More threads than this would wait for the one that stores. */
const maxThreads = 4
/** Bytes of memory for each thread. */
const memoryOfThread = 512 * 2 ** 20
/** Threads for each core, above which they mostly wait for one another. */
const threadsOfCore = 4

/**
 * The number of threads: by default one for each core, as far as there is memory for them and for
 * V8's heap.
 * @param warn gets a sentence when there are fewer than wanted, or more than the cores can run
 */
export function countThreads (
  wanted: number | undefined,
  warn: (sentence: string) => void
): number {
  // Elsewhere Node cannot share a port, or the system gives all connections to one thread.
  if (platform() !== 'linux') {
    const rule = 'several need Linux to share a port'
    if ((wanted ?? 1) > 1) warn(`THREADS is ${wanted}, but there is one thread: ${rule}.`)
    return 1
  }
  if (wanted !== undefined) {
    const cores = availableParallelism()
    if (wanted > cores * threadsOfCore) warn(describeExcess(wanted, cores))
    return wanted
  }
  // A small heap is for one thread: Node ends other threads earlier when they reach its limit.
  if (v8.getHeapStatistics().heap_size_limit < memoryOfThread) return 1
  const memory = Math.min(totalmem(), containerMemory())
  const byMemory = Math.floor(memory / memoryOfThread)
  return Math.max(1, Math.min(maxThreads, availableParallelism(), byMemory))
}

function describeExcess (wanted: number, cores: number): string {
  const wayOut = 'Unset it for one thread for each core, up to 4.'
  return `THREADS is ${wanted}, but the service may use only ${cores} cores at a time. ${wayOut}`
}
