// RATE_LIMIT: counts the requests of each caller per minute.
import rateLimiter from '@fastify/rate-limit'
import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { callerOf, HttpError } from './contract/index.ts'

/** A hook that refuses a caller past this many requests per minute. */
export async function limitRate (app: FastifyInstance, perMinute: number): Promise<onRequestHookHandler> {
  await app.register(rateLimiter, { global: false, store: MonotonicStore })
  return app.rateLimit({
    max: perMinute,
    timeWindow: 60_000,
    keyGenerator: callerOf,
    errorResponseBuilder: (_request, { max }) =>
      new HttpError(429, `This token may make ${max} requests per minute. Retry-After gives the seconds to wait.`)
  }) as onRequestHookHandler
}

/** Ignores the wall clock: when it is set back, the default store refuses callers until it has caught up. */
export class MonotonicStore implements FastifyRateLimitStore {
  readonly #windows = new Map<string, { count: number, endsAt: number }>()

  incr (caller: string, callback: Parameters<FastifyRateLimitStore['incr']>[1], timeWindow: number): void {
    const now = performance.now()
    const last = this.#windows.get(caller)
    const window = last !== undefined && last.endsAt > now ? last : { count: 0, endsAt: now + timeWindow }
    window.count++
    this.#windows.set(caller, window)
    callback(null, { current: window.count, ttl: Math.ceil(window.endsAt - now) })
  }

  child (): this {
    return this
  }
}
