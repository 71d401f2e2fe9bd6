// Limits how many calls run at once, so that they leave the threads of libuv's pool to others, such
// as the reads of a file of tokens.
import { maxWaitMs, overloaded } from 'fastify-openapi-contract/server'

/** Returns a function that runs calls in order. One that waits too long rejects with 503. */
export function limitCalls (maxAtOnce: number): <T>(call: () => Promise<T>) => Promise<T> {
  const waiting: Array<() => void> = []
  let running = 0
  return async call => {
    const since = performance.now()
    if (running < maxAtOnce) running++
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      if (performance.now() - since > maxWaitMs) throw overloaded()
      return await call()
    } finally {
      // The next call takes the place of this one.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
