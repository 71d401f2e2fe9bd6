// FAILED_AUTH_LIMIT: an anonymous caller gets 429 after this many failures in a minute, and the log
// sums up its errors. It does not stop guessing, because a right guess passes: only tokens that are
// long and random do.
import { HttpError, identityOf } from '../contract/index.ts'
import type { FailedRequest, SentError } from '../server/error-reporter.ts'
import { networkOf } from './client-network.ts'
import { windowMs, WindowCounter } from './window-counter.ts'

export interface FailureLimit {
  /** Returns the error to send to a request without accepted credentials. */
  limit: (error: HttpError, request: FailedRequest) => HttpError
  /** Whether the log leaves out this error, because the summary counts it. */
  sumUp: (error: SentError, request: FailedRequest) => boolean
  /** Writes the summary that is due. */
  close: () => void
}

/**
 * @param failureCounts failures of each network, which all threads count together
 * @param lineCounts lines of each network in the log, which all threads count together
 * @param onSummary gets a sentence for each network, a minute after the first error that it sums up
 */
export function limitFailures (
  perMinute: number,
  failureCounts: SharedArrayBuffer,
  lineCounts: SharedArrayBuffer,
  onSummary: (sentence: string) => void
): FailureLimit {
  const failures = new WindowCounter(failureCounts)
  const lines = new WindowCounter(lineCounts)
  const summary = summarize((network, count) => {
    onSummary(`${network}: ${count} refused requests have no line in this log, after ` +
      `${perMinute} others in their minute. They had no accepted credentials, or too many ` +
      'requests. FAILED_AUTH_LIMIT sets this limit.')
  })
  return {
    limit (error, request) {
      // Failures of a verifier and known callers without permission do not count.
      if (error.status !== 400 && error.status !== 401) return error
      const { count, secondsLeft } = failures.count(networkOf(request))
      if (count <= perMinute) return error
      const rule = `An address may fail ${perMinute} times per minute: ` +
        'Retry-After gives the seconds to wait.'
      const headers = { 'Retry-After': String(secondsLeft) }
      return new HttpError(429, `${error.message} ${rule}`, { headers })
    },
    sumUp ({ status }, request) {
      if (status === 500) return false
      if (status !== 429 && identityOf(request) !== undefined) return false
      const network = networkOf(request)
      if (lines.count(network).count <= perMinute) return false
      summary.add(network)
      return true
    },
    close: summary.write
  }
}

/** Lines in a minute of a flood from many networks; the last one counts all other networks. */
const maxLines = 100

function summarize (onLine: (network: string, count: number) => void) {
  const counts = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  function write (): void {
    clearTimeout(timer)
    timer = undefined
    counts.forEach((count, network) => onLine(network, count))
    counts.clear()
  }
  return {
    add (network: string): void {
      timer ??= setTimeout(write, windowMs).unref()
      const name = counts.has(network) || counts.size < maxLines - 1 ? network : 'other networks'
      counts.set(name, (counts.get(name) ?? 0) + 1)
    },
    write
  }
}
