// The id of a request, by which a caller's complaint finds its line in the log.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export const requestIdField = 'X-Request-Id'

/** Ids that logs, header fields and addresses need not escape, such as UUIDs and base64. */
const wellFormed = /^[\w.~+/=:@-]{1,128}$/

const idOf = Symbol('the id of a request')

/**
 * The id that the request brings in X-Request-Id, or a new one, which is unique in all threads and after a restart. It
 * is the same in each call.
 */
export function requestId (request: Pick<IncomingMessage, 'headers'> & { [idOf]?: string }): string {
  const sent = request.headers['x-request-id']
  request[idOf] ??= typeof sent === 'string' && wellFormed.test(sent) ? sent : randomUUID()
  return request[idOf]
}

const known = Symbol('the request as Fastify knows it')

/** Adds X-Request-Id to every response that Fastify sends. errors.ts adds it to the others. */
export function sendRequestIds (app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    (request.raw as Known)[known] = request
    reply.header(requestIdField, request.id)
    done()
  })
}

interface Known extends IncomingMessage { [known]?: FastifyRequest }

/** The request as Fastify knows it, once it does: then it may have a caller. */
export function knownRequest (request: IncomingMessage): FastifyRequest | undefined {
  return (request as Known)[known]
}

/** The ids of `traceparent` (W3C Trace Context, section 3.2), under the names that OpenTelemetry gives them in logs. */
export interface TraceIds { trace_id?: string, span_id?: string }

export function traceIds ({ traceparent }: Pick<FastifyRequest, 'headers'>['headers']): TraceIds {
  const pattern = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:$|(?<!^00.*)-)/
  const [, trace, span] = pattern.exec(String(traceparent)) ?? []
  return trace === undefined || span === undefined ? {} : { trace_id: trace, span_id: span }
}
