// For supervisors and load balancers: /livez says that the process answers, /readyz that the store
// accepts plants.
import type { FastifyInstance } from 'fastify'
import { HttpError, toRoute } from 'fastify-openapi-contract'
import type { Logger } from 'pino'
import type { PlantStore } from '../plants/plant-store.ts'
import { Late } from '../stores/group-commit.ts'
import { shareResult } from './shared-result.ts'

export const healthPaths = { live: '/livez', ready: '/readyz' }

/** The health paths below each prefix, as a request has them. */
export function healthPathsBelow (prefixes: readonly string[]): string[] {
  const { live, ready } = healthPaths
  return prefixes.map(prefix => [prefix + live, prefix + ready]).flat()
}

/** Milliseconds that a result serves all callers, and that a caller waits for a running check. */
const checkMs = { fresh: 1000, wait: 2000 }

/** Why /readyz is 503. The log has no line for each request that gets it. */
export class NotReady extends HttpError {}

/**
 * /readyz is 200 while the store can write and the service is not shutting down, else 503. Neither
 * needs a token.
 * @param isClosing whether the service is shutting down
 * @param prefixes where both paths are, percent-encoded
 */
export function serveHealth (
  app: FastifyInstance,
  store: PlantStore,
  report: ReadinessReport,
  isClosing: () => boolean,
  prefixes: readonly string[]
): void {
  const check = shareCheck(() => store.check(), report)
  const answerLive = async () => ({ status: 'alive' })
  const answerReady = async () => {
    if (isClosing()) throw new NotReady(503, 'The service is shutting down.')
    await check().catch(cause => {
      const message = 'The store cannot write plants durably at the moment.'
      throw new NotReady(503, message, { cause })
    })
    return { status: 'ready' }
  }
  for (const prefix of prefixes) {
    app.get(toRoute(decodeURI(prefix) + healthPaths.live), answerLive)
    app.get(toRoute(decodeURI(prefix) + healthPaths.ready), answerReady)
  }
}

/** Writes the lines of the log about the store. */
export interface ReadinessReport {
  failed: (cause: unknown) => void
  succeeded: () => void
}

/**
 * Logs the failure of the store and its end, and each minute that it lasts.
 * @param failing shared by all threads: the second of the last line, or 0 while the store is ready
 */
export function reportReadiness (
  log: Logger,
  failing: Int32Array<SharedArrayBuffer>
): ReadinessReport {
  return {
    failed (cause) {
      const last = Atomics.load(failing, 0)
      // All threads have this clock. Its first second is not 0, which means ready.
      const now = process.hrtime()[0] + 1
      if (last !== 0 && now - last < lineEachSeconds) return
      const isFirst = Atomics.compareExchange(failing, 0, last, now) === last
      if (isFirst) log.error({ path: healthPaths.ready, err: cause }, sentences.failed)
    },
    succeeded () {
      if (Atomics.exchange(failing, 0, 0) === 0) return
      log.info({ path: healthPaths.ready }, sentences.succeeded)
    }
  }
}

const lineEachSeconds = 60
const sentences = {
  failed: 'The store is not ready: it cannot write plants durably.',
  succeeded: 'The store is ready again: it writes plants durably.'
}

/** Shares each check among all callers, because it writes to the store. Rejects a slow one. */
function shareCheck (check: () => Promise<void>, report: ReadinessReport): () => Promise<void> {
  /** Why the last check that ended has failed. */
  let cause: unknown
  const checkOnce = shareResult(checkMs.fresh, async () => {
    try {
      await check()
      cause = undefined
      report.succeeded()
    } catch (error) {
      cause = error
      report.failed(error)
      throw error
    }
  })
  return async () => {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      const error = new Late('gave no result', checkMs.wait, cause)
      report.failed(error)
      late.reject(error)
    }, checkMs.wait)
    try {
      await Promise.race([checkOnce(), late.promise])
    } finally {
      clearTimeout(timer)
    }
  }
}
