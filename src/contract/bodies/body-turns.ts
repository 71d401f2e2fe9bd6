// Keeps bodies from delaying other requests: each turn of the event loop parses a limited number of
// bytes.
import type { HttpError } from '../../server/http-error.ts'
import { maxWaitMs, overloaded } from '../../server/overload.ts'

/** Parsing takes up to 40 ns a byte. */
const bytesPerTurn = 128 * 1024

/** Gets an error when the body has waited too long. */
type Parse = (overload: HttpError | null) => void

/** Returns a function that calls back when it is the turn of a body. */
export function takeTurns (): (size: number, parse: Parse) => void {
  const waiting: Array<{ size: number, parse: Parse, since: number }> = []
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
      next.parse(isLate ? overloaded() : null)
    }
    isActive = left < bytesPerTurn
    if (isActive) setImmediate(startTurn)
  }

  return (size, parse) => {
    if (left <= 0) {
      waiting.push({ size, parse, since: performance.now() })
      return
    }
    left -= size
    if (!isActive) setImmediate(startTurn)
    isActive = true
    parse(null)
  }
}
