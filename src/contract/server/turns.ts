// Keeps large bodies from delaying other requests: each turn parses or sends a limited number of
// bytes.
import { maxWaitMs, Overload } from './overload.ts'

/** Gets an error when it has waited too long. */
type Work = (overload: Overload | null) => void

/**
 * Returns a function that calls back when it is the turn of a body of `size` bytes.
 * @param wanted what the body waits for, as in Overload
 * @param schedule begins the next turn: by default that of the event loop
 */
export function takeTurns (
  wanted: string,
  bytesPerTurn: number,
  schedule: (startTurn: () => void) => void = setImmediate
): (size: number, work: Work) => void {
  const waiting: Array<{ size: number, work: Work, since: number }> = []
  let left = bytesPerTurn
  let isActive = false

  function startTurn (): void {
    const oldest = performance.now() - maxWaitMs
    left = bytesPerTurn
    while (left > 0) {
      const next = waiting.shift()
      if (next === undefined) break
      const isLate = next.since < oldest
      if (!isLate) left -= next.size
      next.work(isLate ? new Overload(wanted) : null)
    }
    isActive = left < bytesPerTurn
    if (isActive) schedule(startTurn)
  }

  return (size, work) => {
    if (left <= 0) {
      waiting.push({ size, work, since: performance.now() })
      return
    }
    left -= size
    if (!isActive) schedule(startTurn)
    isActive = true
    work(null)
  }
}
