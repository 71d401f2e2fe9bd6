// Limits the lines of the log about errors. A flood of them gets its first lines; a minute later
// sentences sum up the rest.
import { type FailedRequest, identityOf, type SentError } from 'fastify-openapi-contract'
import { networkOf } from './client-network.ts'
import { windowMs, WindowCounter } from './window-counter.ts'

/** Lines in a minute for the strangers of all networks, and as many for requests that failed. */
const maxLines = 1000
/** Sentences in a minute of one kind; the last one counts all others. */
const maxSentences = 100

/** `short`: another line of this minute has the stack of the same cause. */
export type Detail = 'full' | 'short' | 'none'

export interface LineLimit {
  /** What the log shows of an error. Errors without a line count for the next summary. */
  detailOf: (error: SentError, request: FailedRequest) => Detail
  /** Writes the summary that is due. */
  close: () => void
}

export interface LineLimitOptions {
  /** Lines in a minute for each network without accepted credentials: FAILED_AUTH_LIMIT. */
  perMinute: number
  /** Lines of each network and of each cause, which all threads count together. */
  lines: SharedArrayBuffer
  /** Lines of all networks, and of all causes. */
  totals: SharedArrayBuffer
  /** Gets the sentences of a summary. */
  log: Record<'warn' | 'error', (sentence: string) => void>
}

export function limitLines (options: LineLimitOptions): LineLimit {
  const { perMinute, log } = options
  const lines = new WindowCounter(options.lines)
  const totals = new WindowCounter(options.totals)
  const ofAll = Math.max(maxLines, perMinute)
  const strangers = 'without accepted credentials, or with too many requests'
  const ofNetworks = summarize('other networks', (network, count) => {
    log.warn(`${network}: ${withoutLine(count, 'refused')}. FAILED_AUTH_LIMIT allows ` +
      `${perMinute} a minute to a network ${strangers}.`)
  })
  const ofStrangers = summarize('Many networks', (networks, count) => {
    log.warn(`${networks}: ${withoutLine(count, 'refused')}, which has ${ofAll} lines a minute ` +
      `for all networks ${strangers}.`)
  })
  const ofFailures = summarize('other causes', (cause, count) => {
    log.error(`${withoutLine(count, 'failed')}, which has ${ofAll} lines a minute for such ` +
      `requests: ${cause}`)
  })

  /** Whether a line about a stranger goes beyond a limit; counts it for the summary then. */
  function isBeyondLimits (request: FailedRequest): boolean {
    const network = networkOf(request)
    if (lines.count(network).count > perMinute) {
      ofNetworks.add(network)
      return true
    }
    if (totals.count('strangers').count <= ofAll) return false
    ofStrangers.add('Many networks')
    return true
  }

  /**
   * Whether a stranger, such as one whose token cannot be checked, is the first of a minute to meet
   * the cause.
   */
  function isNewFailure ({ status, message, cause }: SentError): boolean {
    if (status < 500 || !(cause instanceof Error)) return false
    return lines.count(`new ${message} ${cause.stack}`).count === 1
  }

  return {
    detailOf (error, request) {
      const { status, message, cause } = error
      if (isStranger(error, request) && !isNewFailure(error)) {
        if (isBeyondLimits(request)) return 'none'
      } else if (status >= 500 && totals.count('failures').count > ofAll) {
        const reason = cause instanceof Error ? ` (${cause.message})` : ''
        ofFailures.add(message + reason)
        return 'none'
      }
      if (!(cause instanceof Error)) return 'full'
      return lines.count(`${message} ${cause.stack}`).count === 1 ? 'full' : 'short'
    },
    close () {
      for (const summary of [ofNetworks, ofStrangers, ofFailures]) summary.write()
    }
  }
}

/** A 500 is a fault of the service, and not of a stranger. */
function isStranger ({ status }: SentError, request: FailedRequest): boolean {
  return status !== 500 && (status === 429 || identityOf(request) === undefined)
}

function withoutLine (count: number, kind: string): string {
  return `${count} ${kind} ${count === 1 ? 'request has' : 'requests have'} no line in this log`
}

function summarize (rest: string, onSentence: (name: string, count: number) => void) {
  const counts = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  function write (): void {
    clearTimeout(timer)
    timer = undefined
    counts.forEach((count, name) => onSentence(name, count))
    counts.clear()
  }
  return {
    add (wanted: string): void {
      timer ??= setTimeout(write, windowMs).unref()
      const name = counts.has(wanted) || counts.size < maxSentences - 1 ? wanted : rest
      counts.set(name, (counts.get(name) ?? 0) + 1)
    },
    write
  }
}
