// Limits how many calls run at once, so that they leave the threads of libuv's pool to others, such
// as the reads of a file of tokens.
import { maxWaitMs, Overload } from 'fastify-openapi-contract/server'

/**
 * Returns a function that runs calls in order, those with `isLast` after all others. One that waits
 * too long rejects with 503.
 */
export function limitCalls (
  maxAtOnce: number
): <T>(isLast: boolean, call: () => Promise<T>) => Promise<T> {
  const first: Array<() => void> = []
  const last: Array<() => void> = []
  let running = 0
  return async (isLast, call) => {
    const since = performance.now()
    const waiting = isLast ? last : first
    if (running < maxAtOnce) running++
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      if (performance.now() - since > maxWaitMs) throw new Overload('the check of its token')
      return await call()
    } finally {
      // The next call takes the place of this one.
      const next = first.shift() ?? last.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
