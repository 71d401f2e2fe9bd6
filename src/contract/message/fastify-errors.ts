// Writes the errors of Fastify's requests, so that every error has the contract's shape. Those of
// requests that do not reach Fastify are in server/socket-errors.ts.
import type {
  FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions
} from 'fastify'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorReporter, reportError, writeError } from '../server/error-reporter.ts'
import { framingFault } from '../server/framing.ts'
import { bodyTooLarge, HttpError, internalError } from '../server/http-error.ts'
import { requestId, requestIdField } from '../server/request-id.ts'
import {
  answerClientError, answerEarly, errorInBody, notHttp, rememberRequest
} from '../server/socket-errors.ts'
import { decodedPath } from './request-texts.ts'

/** As Fastify writes it: it would change another spelling at each request. */
const idField = requestIdField.toLowerCase()

type MapError = (thrown: unknown) => HttpError | undefined

/**
 * Answers the errors of handlers and hooks, and those of Fastify. Every response gets an id. Paths
 * without a route get 404, unless another plugin answers them already.
 * @param mapError for the errors of hooks; undefined means that one with a statusCode from 400 to
 *   499, as other plugins throw, keeps it, and any other is 500
 */
export function answerErrors (
  app: FastifyInstance,
  reporter: ErrorReporter,
  mapError?: MapError
): void {
  app.addHook('onRequest', (request, reply, done) => {
    rememberRequest(request.raw, request)
    reply.header(idField, request.id)
    done()
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    return sendError(reporter, toHttpError(error, request, mapError), request, reply)
  })
  const claimed = claimedPrefixes.get(app.server) ?? new Set()
  claimedPrefixes.set(app.server, claimed)
  // Fastify takes one handler for each prefix, and reports some second ones too late to catch.
  if (claimed.has(app.prefix)) return
  claimed.add(app.prefix)
  try {
    app.setNotFoundHandler(request => {
      throw new HttpError(404, `There is nothing at ${decodedPath(request)}.`)
    })
  } catch { /* The app has one of its own. */ }
}

/** The prefixes below which a contract answers unknown paths. */
const claimedPrefixes = new WeakMap<Server, Set<string>>()

/** Server options for the ids of requests and for the errors before routing. */
export function errorOptions (reporter: ErrorReporter): FastifyServerOptions {
  return {
    genReqId: requestId,
    frameworkErrors: (error, request, reply) => {
      const fault = framingFault(request.raw) ?? toHttpError(error, request)
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
function toHttpError (
  error: Error & { code?: string },
  request: FastifyRequest,
  mapError?: MapError
): HttpError {
  if (error instanceof HttpError) return error
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(request.routeOptions.bodyLimit as number)
    case 'ECONNRESET': // Node's code for a client that disconnected in the middle of its body.
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HttpError(400, 'The length of the body does not match Content-Length.')
    case 'FST_ERR_BAD_URL':
      return new HttpError(400, 'The path of the request has invalid percent-encoding.')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new HttpError(414, 'A parameter in the path is too long.')
    // Fastify has no routes for PRI, a method that HTTP/2 reserves (RFC 9113, section 3.4).
    case 'FST_ERR_NOT_FOUND': return notHttp()
    default: return mapError?.(error) ?? withStatus(error) ?? internalError(error)
  }
}

type PluginError = Error & { code?: string, statusCode?: unknown }

/** An error of another plugin, such as a rate limit, whose message is for the caller. */
function withStatus (error: PluginError): HttpError | undefined {
  const { code = '', statusCode, message } = error
  const isOfFastify = code.startsWith('FST_')
  if (isOfFastify || typeof statusCode !== 'number') return undefined
  if (statusCode < 400 || statusCode > 499) return undefined
  return new HttpError(statusCode as HttpError['status'], message)
}
