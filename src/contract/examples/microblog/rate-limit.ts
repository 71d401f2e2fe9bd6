// `x-rate-limit: 3` of an operation: so many requests of each caller in a minute.
import type { onRequestHookHandler } from 'fastify'
import { HttpError, identityOf } from 'fastify-openapi-contract'

/** Runs once the caller is known, before the body is read. */
export function rateLimitHook (perMinute: number, now: () => number): onRequestHookHandler {
  const counts = new Map<string, number>()
  let minute = 0
  return (request, _reply, done) => {
    const current = Math.floor(now() / 60_000)
    if (current !== minute) counts.clear()
    minute = current
    const caller = identityOf(request) ?? request.ip
    const count = (counts.get(caller) ?? 0) + 1
    counts.set(caller, count)
    if (count <= perMinute) return done()
    const message = `At most ${perMinute} requests in a minute.`
    done(new HttpError(429, message, { headers: { 'Retry-After': '60' } }))
  }
}
