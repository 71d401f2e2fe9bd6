// The memory that the process may use.
import v8 from 'node:v8'

/** Bytes: the limit of V8's heap or that of the container, whichever is lower. */
export function memoryLimit (): number {
  // Without a container it is more than the machine has.
  return Math.min(v8.getHeapStatistics().heap_size_limit, process.constrainedMemory() || Infinity)
}
