// Retries a call to a database, and bounds its time.
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds for a call with all its retries, and between two tries. */
const callTimeoutMs = 8000
const retryIntervalMs = 100

/** Retries transient errors until the timeout. Every call is idempotent, so an unknown outcome is safe to retry. */
export async function retry<Result> (
  work: () => Promise<Result>,
  isTransient: (error: unknown) => boolean
): Promise<Result> {
  const until = performance.now() + callTimeoutMs
  for (;;) {
    try {
      return await withTimeout(until - performance.now(), work())
    } catch (error) {
      if (!isTransient(error) || performance.now() + retryIntervalMs > until) throw error
      await sleep(retryIntervalMs)
    }
  }
}

/** Rejects after a timeout. The work may still finish; that is safe, because every call is idempotent. */
async function withTimeout<Result> (milliseconds: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('timeout: the database did not respond in time')), milliseconds)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
