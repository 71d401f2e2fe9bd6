// For supervisors and load balancers: /livez says that the process answers, /readyz that the store
// accepts plants.
import type { FastifyInstance } from 'fastify'
import { HttpError, toRoute } from 'fastify-openapi-contract'
import type { PlantStore } from '../plants/plant-store.ts'
import { shareResult } from './shared-result.ts'

export const healthPaths = { live: '/livez', ready: '/readyz' }

/** The health paths below each prefix, as a request has them. */
export function healthPathsBelow (prefixes: readonly string[]): string[] {
  const { live, ready } = healthPaths
  return prefixes.map(prefix => [prefix + live, prefix + ready]).flat()
}

/** Milliseconds that a result serves all callers, and that a caller waits for a running check. */
const checkMs = { fresh: 1000, wait: 2000 }

/**
 * /readyz is 200 while the store can write and the service is not shutting down, else 503. Neither
 * needs a token.
 * @param isClosing whether the service is shutting down
 * @param prefixes where both paths are, percent-encoded
 */
export function serveHealth (
  app: FastifyInstance,
  store: PlantStore,
  isClosing: () => boolean,
  prefixes: readonly string[]
): void {
  const check = shareCheck(() => store.check())
  const answerLive = async () => ({ status: 'alive' })
  const answerReady = async () => {
    if (isClosing()) throw new HttpError(503, 'The service is shutting down.')
    await check().catch(cause => {
      const message = 'The store cannot write plants durably at the moment.'
      throw new HttpError(503, message, { cause })
    })
    return { status: 'ready' }
  }
  for (const prefix of prefixes) {
    app.get(toRoute(decodeURI(prefix) + healthPaths.live), answerLive)
    app.get(toRoute(decodeURI(prefix) + healthPaths.ready), answerReady)
  }
}

/** Shares each check among all callers, because it writes to the store. Rejects a slow one. */
function shareCheck (check: () => Promise<void>): () => Promise<void> {
  /** Why the last check that ended has failed. */
  let cause: unknown
  const checkOnce = shareResult(checkMs.fresh, async () => {
    try {
      await check()
      cause = undefined
    } catch (error) {
      cause = error
      throw error
    }
  })
  return async () => {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.reject(new Error(`no result within ${checkMs.wait} ms`, { cause }))
    }, checkMs.wait)
    try {
      await Promise.race([checkOnce(), late.promise])
    } finally {
      clearTimeout(timer)
    }
  }
}
