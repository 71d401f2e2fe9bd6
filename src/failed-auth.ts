// FAILED_AUTH_LIMIT: a stranger past this many failures per minute gets 429, and the log does not record each of them.
// It does not stop guessing, because a right guess passes: only tokens that are long and random do.
import type { FastifyRequest } from 'fastify'
import { HttpError } from './contract/index.ts'
import { networkOf } from './network.ts'
import { windowMs, WindowCounter } from './window-counter.ts'

/** A refusal that only the summary in the log counts. */
export class TooManyFailures extends HttpError {}

export interface FailureLimit {
  /** Returns the error to send. Requests with accepted credentials never get here. */
  refuse: (error: HttpError, request: FastifyRequest) => HttpError
  /** Writes the summary that is due. */
  close: () => void
}

/** @param onSummary gets a sentence for each network, a minute after the first failure past the limit */
export function limitFailures (perMinute: number, onSummary: (sentence: string) => void): FailureLimit {
  const failures = new WindowCounter()
  const summary = summarize((network, count) => {
    onSummary(`${network}: ${count} requests got 429, because they came without accepted credentials after ` +
      `${perMinute} others in their minute. FAILED_AUTH_LIMIT sets this limit.`)
  })
  return {
    refuse (error, request) {
      // Failures of a verifier and known callers without permission do not count.
      if (error.status !== 400 && error.status !== 401) return error
      const network = networkOf(request)
      const { count, secondsLeft } = failures.count(network)
      if (count <= perMinute) return error
      summary.add(network)
      const rule = `An address may fail ${perMinute} times per minute: Retry-After gives the seconds to wait.`
      return new TooManyFailures(429, `${error.message} ${rule}`, { headers: { 'Retry-After': String(secondsLeft) } })
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
