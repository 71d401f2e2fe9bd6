// Retries a call to a database, and bounds its time.
import type { Clock } from './clock.ts'

export interface RetryOptions {
  /** Milliseconds for the call with all its tries. */
  timeoutMs: number
  isTransient: (error: unknown) => boolean
  clock: Clock
}

/**
 * Milliseconds between two tries: each wait is twice as long as the one before, up to a maximum.
 */
const intervalsMs = { first: 50, longest: 400 }

/**
 * Retries transient errors until the timeout. The call must be idempotent, because the outcome of a
 * try is unknown.
 * @param attempt gets the moment of the clock at which the call ends; it may still run then
 */
export async function retry<Result> (
  attempt: (until: number) => Promise<Result>,
  { timeoutMs, isTransient, clock }: RetryOptions
): Promise<Result> {
  const until = clock.now() + timeoutMs
  let lastError: unknown
  let intervalMs = intervalsMs.first
  for (;;) {
    try {
      const timeout = new Error(`timeout: the database did not respond within ${timeoutMs} ms`, {
        cause: lastError
      })
      return await withTimeout(attempt(until), until, timeout, clock)
    } catch (error) {
      if (!isTransient(error) || clock.now() + intervalMs > until) throw error
      lastError = error
    }
    await new Promise<void>(resolve => clock.setTimer(resolve, intervalMs))
    intervalMs = Math.min(2 * intervalMs, intervalsMs.longest)
  }
}

/** Rejects with an error at a moment of the clock. */
async function withTimeout<Result> (
  work: Promise<Result>,
  until: number,
  timeout: Error,
  clock: Clock
): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const cancel = clock.setTimer(() => late.reject(timeout), until - clock.now())
  try {
    return await Promise.race([work, late.promise])
  } finally {
    cancel()
  }
}
