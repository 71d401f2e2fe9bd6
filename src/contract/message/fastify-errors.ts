// Writes the errors of Fastify's requests, so that every error has the contract's shape. Those of
// requests that do not reach Fastify are in server/socket-errors.ts.
import type {
  FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions
} from 'fastify'
import type { Socket } from 'node:net'
import { type ErrorReporter, reportError, writeError } from '../server/error-reporter.ts'
import { framingFault } from '../server/framing.ts'
import { HttpError, internalError } from '../server/http-error.ts'
import { requestId, requestIdField } from '../server/request-id.ts'
import {
  answerClientError, answerEarly, errorInBody, notHttp, rememberRequest
} from '../server/socket-errors.ts'
import { decodedPath } from './request-texts.ts'

type MapError = (thrown: unknown) => HttpError | undefined

/**
 * Answers the errors of handlers and hooks, and those of Fastify. Every response gets an id. Paths
 * without a route get 404, unless another plugin answers them already.
 * @param mapError for the errors of hooks, such as those of other plugins; undefined means 500
 */
export function answerErrors (
  app: FastifyInstance,
  reporter: ErrorReporter,
  mapError?: MapError
): void {
  app.addHook('onRequest', (request, reply, done) => {
    rememberRequest(request.raw, request)
    reply.header(requestIdField, request.id)
    done()
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    return sendError(reporter, toHttpError(error, mapError), request, reply)
  })
  try {
    app.setNotFoundHandler(request => {
      throw new HttpError(404, `There is nothing at ${decodedPath(request)}.`)
    })
  } catch { /* Fastify takes one handler for each prefix. */ }
}

/** Server options for the ids of requests and for the errors before routing. */
export function errorOptions (reporter: ErrorReporter): FastifyServerOptions {
  return {
    genReqId: requestId,
    frameworkErrors: (error, request, reply) => {
      const fault = framingFault(request.raw) ?? toHttpError(error)
      return sendError(reporter, fault, request, reply as FastifyReply)
    },
    clientErrorHandler: (error, socket) => answerClientError(reporter, error, socket as Socket)
  }
}

function sendError (
  reporter: ErrorReporter,
  thrown: HttpError,
  request: FastifyRequest,
  reply: FastifyReply
) {
  const sent = errorInBody(request.raw)
  const error = sent ?? thrown
  const { status, headers, body } = writeError(reporter, error, request.id)
  if (sent === undefined) reportError(reporter, error, request)
  if (!request.raw.complete || !reply.raw.shouldKeepAlive) answerEarly(request.raw)
  return reply.code(status).headers(headers).send(body)
}

/** Maps Fastify's errors by code; their messages are for developers. */
function toHttpError (error: Error & { code?: string }, mapError?: MapError): HttpError {
  if (error instanceof HttpError) return error
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new HttpError(413, 'The body is larger than this service accepts.')
    case 'ECONNRESET': // Node's code for a client that disconnected in the middle of its body.
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HttpError(400, 'The length of the body does not match Content-Length.')
    case 'FST_ERR_BAD_URL':
      return new HttpError(400, 'The path of the request has invalid percent-encoding.')
    // Fastify has no routes for PRI, a method that HTTP/2 reserves (RFC 9113, section 3.4).
    case 'FST_ERR_NOT_FOUND': return notHttp()
    default: return mapError?.(error) ?? internalError(error)
  }
}
