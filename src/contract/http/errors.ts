// Every error leaves as one shape, by whichever door: this file is the only writer of error bodies.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { internal, ServiceError } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'
import { about } from '../../log.ts'
import type { ServedSocket } from './drain.ts'
import { pathOf } from './paths.ts'
import type { Logger } from 'pino'

/** How errors are told: to the caller in the contract's shape, to the operator by the log. */
export interface ErrorVoice {
  errorBody: (status: number, message: string) => object
  log: Logger
}

const contentType = 'application/json; charset=utf-8'

const statuses: Record<ErrorCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  timeout: 408,
  'too-large': 413,
  'unsupported-media-type': 415,
  'expectation-failed': 417,
  'too-many-requests': 429,
  'headers-too-large': 431,
  internal: 500,
  unavailable: 503
}

/** Answers what handlers and hooks throw, and what Fastify refuses by itself. */
export function answerErrors (app: FastifyInstance, voice: ErrorVoice): void {
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(voice, error, request, reply))
  app.setNotFoundHandler(request => { throw new ServiceError('not-found', `There is nothing at ${pathOf(request)}.`) })
}

/** Server options for the doors before routing: addresses that cannot be decoded and bytes that are not HTTP. */
export function errorOptions (voice: ErrorVoice): FastifyServerOptions {
  return {
    frameworkErrors: (error, request, reply) => sendError(voice, error, request, reply as FastifyReply),
    clientErrorHandler (error, socket) { endSocket(socket as Socket, voice, fromParser(error)) }
  }
}

/** The doors that Node answers by itself, without a body: CONNECT, which is no request to a path, and unknown expectations. */
export function answerServerErrors (server: Server, voice: ErrorVoice): void {
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    endSocket(socket, voice, new ServiceError('method-not-allowed', 'This service is no proxy: it does not answer CONNECT.', { headers: { Allow: '' } }))
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    answeredEarly.set(request.socket, request)
    const { status, headers, body } = write(voice, new ServiceError('expectation-failed', 'The only Expect this service meets is 100-continue.'))
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body)
  })
}

/** By connection, the request that was answered before it had arrived: what goes wrong with the rest of it gets no second answer. */
const answeredEarly = new WeakMap<Socket, IncomingMessage>()

function sendError (voice: ErrorVoice, thrown: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toServiceError(thrown)
  const { status, headers, body } = write(voice, error)
  if (status < 500) voice.log.info({ ...about(request), status }, error.message)
  else voice.log.error({ ...about(request), status, err: error.cause ?? error }, error.message)
  if (!request.raw.complete) answeredEarly.set(request.raw.socket, request.raw)
  return reply.code(status).headers(headers).send(body)
}

/** What Fastify throws has a code of its own and a message for developers: the caller gets a sentence of ours. */
function toServiceError (error: Error & { code?: string, statusCode?: number }): ServiceError {
  if (error instanceof ServiceError) return error
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE': return new ServiceError('too-large', 'The body is larger than this service accepts.')
    case 'ECONNRESET': // Node's word for a client that broke off in the middle of its body; it reads no answer.
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH': return new ServiceError('invalid', 'The body is not as long as Content-Length says.')
    case 'FST_ERR_BAD_URL': return new ServiceError('invalid', 'The address of the request cannot be decoded.')
    default: return internal(error)
  }
}

function fromParser ({ code }: { code?: string }): ServiceError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': return new ServiceError('headers-too-large', `The header fields are larger than ${maxHeaderSize} bytes.`)
    case 'ERR_HTTP_REQUEST_TIMEOUT': return new ServiceError('timeout', 'The request did not arrive in time.')
    default: return new ServiceError('invalid', 'This is not an HTTP/1.1 request.')
  }
}

function write (voice: ErrorVoice, error: ServiceError) {
  const status = statuses[error.code]
  const body = JSON.stringify(voice.errorBody(status, error.message))
  // Whatever is unavailable may be back soon: every 503 says when to try again (RFC 9110, section 15.6.4).
  const retry = status === 503 ? { 'Retry-After': '1' } : {}
  return { status, body, headers: { 'Content-Type': contentType, ...retry, ...error.headers } }
}

/** Answers on a connection that has no response object, after the answers that it still owes, and ends it. */
function endSocket (socket: ServedSocket, voice: ErrorVoice, error: ServiceError): void {
  // A request that arrived whole must not be answered with the error of what followed it on the connection.
  const owed = socket._httpMessage
  if (owed?.req.complete === true) {
    owed.once('finish', () => endSocket(socket, voice, error))
    return
  }
  if (answeredEarly.get(socket)?.complete === false || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, headers, body } = write(voice, error)
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`, () => socket.destroy())
}
