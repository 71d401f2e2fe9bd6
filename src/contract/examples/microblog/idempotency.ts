// `x-idempotent: true` of an operation: a request with the Idempotency-Key of an earlier one gets
// its answer. A service of several processes keeps the answers in its database, for a day.
import type { FastifyRequest } from 'fastify'
import { HttpError, identityOf, type OperationHooks } from 'fastify-openapi-contract'
import { isDeepStrictEqual } from 'node:util'

interface Kept { requestId: string, body: unknown, answer?: Answer }
interface Answer { status: number, contentType: string, payload: unknown }

/** preHandler runs after the checks of the request, and may answer in the handler's place. */
export function idempotencyHooks (): OperationHooks {
  const kept = new Map<string, Kept>()
  return {
    preHandler (request, reply, done) {
      const key = keyOf(request)
      const first = kept.get(key ?? '')
      if (first === undefined) {
        if (key !== undefined) kept.set(key, { requestId: request.id, body: request.body })
        return done()
      }
      if (!isDeepStrictEqual(first.body, request.body)) {
        throw new HttpError(422, 'This Idempotency-Key was sent with another body.')
      }
      if (first.answer === undefined) {
        throw new HttpError(409, 'The first request with this Idempotency-Key is not answered yet.')
      }
      const { status, contentType, payload } = first.answer
      reply.code(status).type(contentType).send(payload)
    },

    onSend (request, reply, payload, done) {
      const key = keyOf(request) ?? ''
      const first = kept.get(key)
      if (first?.requestId === request.id) {
        const contentType = String(reply.getHeader('Content-Type'))
        if (reply.statusCode >= 500) kept.delete(key)
        else first.answer = { status: reply.statusCode, contentType, payload }
      }
      done(null, payload)
    }
  }
}

/** Callers cannot see the answers of each other. */
function keyOf (request: FastifyRequest): string | undefined {
  const { 'idempotency-key': key } = request.headers
  return key === undefined ? undefined : JSON.stringify([identityOf(request), key])
}
