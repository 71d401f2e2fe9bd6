// What becomes of a request before it reaches an operation: no Host, no such path, or not with this method.
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { ServiceError } from '../errors.ts'
import type { Operation } from './types.ts'

/**
 * A hook that settles what no operation will: 400 without a Host (RFC 9112, section 3.2), 404 for an unknown path,
 * 405 for another method of a known path and 204 for its OPTIONS, both with Allow (RFC 9110, section 10.2.1).
 * It runs before the body is read, and asks for no token: the contract is public.
 */
export function refuseUnroutable (operations: Readonly<Record<string, Operation>>): onRequestHookHandler {
  const allowed = listMethods(Object.values(operations))
  return (request, reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new ServiceError('invalid', 'The request has no Host header field.')
    }
    if (!request.is404) done()
    else answerUnrouted(request, reply, allowed.get(pathOf(request)))
  }
}

function answerUnrouted (request: FastifyRequest, reply: FastifyReply, allow: string | undefined): void {
  const path = pathOf(request)
  if (allow === undefined) throw new ServiceError('not-found', `There is nothing at ${path}.`)
  if (request.method !== 'OPTIONS') {
    throw new ServiceError('method-not-allowed', `${path} does not answer ${request.method}, only ${allow}.`, { headers: { Allow: allow } })
  }
  reply.code(204).header('Allow', allow).send()
}

/** The value of Allow by path. */
function listMethods (operations: Operation[]): Map<string, string> {
  const methods = Map.groupBy(operations, operation => operation.url)
  return new Map(Array.from(methods, ([url, operations]) => {
    const named = operations.map(({ method }) => method)
    return [url, [...new Set([...named, ...named.includes('GET') ? ['HEAD'] : [], 'OPTIONS'])].join(', ')]
  }))
}

/** The path of a request target in origin or absolute form (RFC 9112, section 3.2), decoded and as it was sent. */
export function pathOf (request: FastifyRequest): string {
  return decodeURI(request.url.replace(/^[a-z]+:\/\/[^/?]*/i, '').replace(/\?.*$/s, ''))
}
