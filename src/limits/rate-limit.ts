// RATE_LIMIT: answers 429 after a token's requests per minute. Responses say how many are left.
import type { onRequestHookHandler } from 'fastify'
import { HttpError, identityOf } from 'fastify-openapi-contract'
import { networkOf } from './client-network.ts'
import { WindowCounter } from './window-counter.ts'

/**
 * A hook for authenticated requests. Clients read the header fields of the IETF's earlier drafts:
 * those of draft-ietf-httpapi-ratelimit-headers-08 and later, RateLimit and RateLimit-Policy,
 * confuse released parsers.
 * @param counts of the requests, which all threads count together
 */
export function limitRate (perMinute: number, counts?: SharedArrayBuffer): onRequestHookHandler {
  const requests = new WindowCounter(counts)
  const noun = perMinute === 1 ? 'request' : 'requests'
  const messageTo = (caller: string) => `${caller} may make ${perMinute} ${noun} per minute. ` +
    'Retry-After gives the seconds to wait.'
  return (request, reply, done) => {
    const identity = identityOf(request)
    const { count, secondsLeft } = requests.count(identity ?? networkOf(request))
    reply.header('ratelimit-limit', perMinute)
    reply.header('ratelimit-remaining', Math.max(0, perMinute - count))
    reply.header('ratelimit-reset', secondsLeft)
    if (count <= perMinute) return done()
    const message = messageTo(identity === undefined ? 'This address' : 'This token')
    done(new HttpError(429, message, { headers: { 'Retry-After': String(secondsLeft) } }))
  }
}
