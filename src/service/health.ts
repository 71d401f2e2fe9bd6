// For supervisors and load balancers: /livez says that the process answers, /readyz that the store accepts plants.
import type { FastifyInstance } from 'fastify'
import { HttpError, toRoute } from '../contract/index.ts'
import type { PlantStore } from '../plants/plant-store.ts'

export const healthPaths = { live: '/livez', ready: '/readyz' }

/** The health paths below each prefix, as a request has them. */
export function healthPathsBelow (prefixes: readonly string[]): string[] {
  return prefixes.flatMap(prefix => Object.values(healthPaths).map(path => prefix + path))
}

/** Milliseconds for which the result of a check serves all callers, and which a caller waits for a running check. */
const checkMs = { fresh: 1000, wait: 2000 }

/**
 * /readyz is 200 while the store can write and the service is not shutting down, else 503. Neither needs a token.
 * @param isLeaving whether app.close() leaves the service to other threads
 * @param prefixes where both paths are, percent-encoded
 */
export function serveHealth (
  app: FastifyInstance,
  store: PlantStore,
  isLeaving: () => boolean,
  prefixes: readonly string[]
): void {
  let closing = false
  app.addHook('preClose', done => {
    closing = !isLeaving()
    done()
  })
  const check = shareCheck(() => store.check())
  const answerLive = async () => ({ status: 'alive' })
  const answerReady = async () => {
    if (closing) throw new HttpError(503, 'The service is shutting down.')
    await check().catch(cause => {
      throw new HttpError(503, 'The store cannot write plants durably at the moment.', { cause })
    })
    return { status: 'ready' }
  }
  for (const prefix of prefixes.map(decodeURI)) {
    app.get(toRoute(prefix + healthPaths.live), answerLive)
    app.get(toRoute(prefix + healthPaths.ready), answerReady)
  }
}

/** Shares one check among all callers, because each check writes to the store. Rejects when it takes too long. */
function shareCheck (check: () => Promise<void>): () => Promise<void> {
  let latest: Promise<void> | undefined
  /** Why the last check that ended has failed. */
  let cause: unknown
  return async () => {
    if (latest === undefined) {
      latest = check()
      const forget = () => setTimeout(() => { latest = undefined }, checkMs.fresh).unref()
      latest.then(forget, forget)
      latest.then(() => { cause = undefined }, error => { cause = error })
    }
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error(`no result within ${checkMs.wait} ms`, { cause })), checkMs.wait)
    try {
      await Promise.race([latest, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }
}
