// The memory that requests may use.
import v8 from 'node:v8'

/** V8's limit includes its young generation: three times a large --max-semi-space-size, 64 MiB. */
const youngBytes = 192 * 2 ** 20
/** Each thread without requests, with its young generation. */
const idleBytes = 128 * 2 ** 20

/** Bytes for each thread: what V8's heap or the container leaves, whichever is less. */
export function memoryLimit (threads: number): number {
  const heap = without(youngBytes, v8.getHeapStatistics().heap_size_limit)
  return Math.min(heap, without(threads * idleBytes, containerMemory()) / threads)
}

/** Bytes; without a container, it is more than the machine has. */
export function containerMemory (): number {
  return process.constrainedMemory() || Infinity
}

/** At least a quarter of a limit that is very low. */
function without (used: number, limit: number): number {
  return Math.max(limit - used, limit / 4)
}
