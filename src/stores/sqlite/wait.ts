// Waits in the thread of the file, which has nothing else to do.

/** Milliseconds that a statement waits for another process that has locked the file. */
export const lockWaitMs = 5000
/** Milliseconds between two looks. */
const pauseMs = 10

/** Waits until a condition is true. Returns whether it is. */
export function becomesTrue (condition: () => boolean, waitMs: number): boolean {
  const until = performance.now() + waitMs
  while (!condition()) {
    if (performance.now() > until) return false
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
  }
  return true
}
