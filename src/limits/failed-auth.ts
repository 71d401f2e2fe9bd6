// FAILED_AUTH_LIMIT: a stranger past this many failures per minute gets 429, and the log sums up what it is refused.
// It does not stop guessing, because a right guess passes: only tokens that are long and random do.
import { HttpError, identityOf } from '../contract/index.ts'
import type { FailedRequest, SentError } from '../contract/index.ts'
import { networkOf } from './network.ts'
import type { Shared } from '../service/shared-memory.ts'
import { windowMs, WindowCounter } from './window-counter.ts'

export interface FailureLimit {
  /** Returns the error to send. Requests with accepted credentials never get here. */
  refuse: (error: HttpError, request: FailedRequest) => HttpError
  /** Whether the log leaves out this error, because the summary counts it. */
  sumUp: (error: SentError, request: FailedRequest) => boolean
  /** Writes the summary that is due. */
  close: () => void
}

/**
 * @param counts of the failures and of the lines in the log, which all threads count together
 * @param onSummary gets a sentence for each network, a minute after the first error that it sums up
 */
export function limitFailures (
  perMinute: number,
  counts: Pick<Shared, 'failures' | 'lines'>,
  onSummary: (sentence: string) => void
): FailureLimit {
  const failures = new WindowCounter(counts.failures)
  const errors = new WindowCounter(counts.lines)
  const summary = summarize((network, count) => {
    onSummary(`${network}: ${count} refused requests have no line in this log, after ${perMinute} others in their ` +
      'minute. They had no accepted credentials, or too many requests. FAILED_AUTH_LIMIT sets this limit.')
  })
  return {
    refuse (error, request) {
      // Failures of a verifier and known callers without permission do not count.
      if (error.status !== 400 && error.status !== 401) return error
      const { count, secondsLeft } = failures.count(networkOf(request))
      if (count <= perMinute) return error
      const rule = `An address may fail ${perMinute} times per minute: Retry-After gives the seconds to wait.`
      return new HttpError(429, `${error.message} ${rule}`, { headers: { 'Retry-After': String(secondsLeft) } })
    },
    sumUp ({ status }, request) {
      const isStranger = identityOf(request) === undefined
      if (status === 500 || !(isStranger || status === 429)) return false
      const network = networkOf(request)
      if (errors.count(network).count <= perMinute) return false
      summary.add(network)
      return true
    },
    close: summary.write
  }
}

/** A flood from many networks writes no more lines than this in a minute; the last one counts all other networks. */
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
