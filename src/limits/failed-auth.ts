// FAILED_AUTH_LIMIT: an anonymous caller gets 429 after this many failures in a minute. It does not
// stop guessing, because a right guess passes: only tokens that are long and random do.
import { type FailedRequest, HttpError } from 'fastify-openapi-contract'
import { networkOf } from './client-network.ts'
import { WindowCounter } from './window-counter.ts'

/**
 * Returns a function that gets the error for a request without accepted credentials, and returns
 * the one to send.
 * @param counts failures of each network, which all threads count together
 */
export function limitFailures (
  perMinute: number,
  counts: SharedArrayBuffer
): (error: HttpError, request: FailedRequest) => HttpError {
  const failures = new WindowCounter(counts)
  return (error, request) => {
    // Known callers without permission do not count.
    if (error.status === 403) return error
    const { count, secondsLeft } = failures.count(networkOf(request))
    if (count <= perMinute) return error
    const times = perMinute === 1 ? 'once' : `${perMinute} times`
    const rule = `An address may fail ${times} per minute: ` +
      'Retry-After gives the seconds to wait.'
    const headers = { 'Retry-After': String(secondsLeft) }
    return new HttpError(429, `${error.message} ${rule}`, { headers })
  }
}

/** Returns a function that tells whether the network of a request has failed too often by now. */
export function exceedsFailures (
  perMinute: number,
  counts: SharedArrayBuffer
): (request: FailedRequest) => boolean {
  const failures = new WindowCounter(counts)
  return request => failures.look(networkOf(request)) > perMinute
}
