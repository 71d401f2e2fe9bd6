// The only writer of error responses: every error has the contract's shape, even before routing and outside Fastify.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import { randomUUID } from 'node:crypto'
import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ServedSocket } from '../../server/drain.ts'
import { framingFault } from '../../server/framing.ts'
import { HttpError, internalError } from '../../server/http-error.ts'
import { knownRequest, requestId, requestIdField, sendRequestIds } from '../../server/request-id.ts'
import { decodedPath } from './request-texts.ts'

/** How the application reports errors: to the caller in the contract's shape, to the operator in the log. */
export interface ErrorReporter {
  errorBody: (status: number, message: string) => object
  log: (error: SentError, request: FailedRequest) => void
}

/** An error as it is sent, and what caused it. */
export interface SentError { readonly status: number, readonly message: string, readonly cause?: unknown }

/** A request that gets an error. Of bytes that are not HTTP only the sender is known. */
export type FailedRequest = Pick<FastifyRequest, 'id' | 'ip' | 'principals'> &
  Partial<Pick<FastifyRequest, 'method' | 'url' | 'headers'>> & { readonly socket: Pick<Socket, 'remoteAddress'> }

/** Answers the errors of handlers and hooks, and those of Fastify itself. Every response gets the id of its request. */
export function answerErrors (app: FastifyInstance, reporter: ErrorReporter): void {
  sendRequestIds(app)
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(reporter, error, request, reply))
  app.setNotFoundHandler(request => { throw new HttpError(404, `There is nothing at ${decodedPath(request)}.`) })
}

/** Server options for the ids of requests and for the errors before routing. */
export function errorOptions (reporter: ErrorReporter): FastifyServerOptions {
  return {
    genReqId: requestId,
    frameworkErrors: (error, request, reply) => {
      return sendError(reporter, framingFault(request.raw) ?? error, request, reply as FastifyReply)
    },
    clientErrorHandler (error, socket) {
      endSocket(socket as Socket, reporter, fromParser(error), { isHead: isHead(error) })
    }
  }
}

/**
 * Answers what Node would answer without a body or not at all: CONNECT, unknown expectations, and clients that close
 * their side of the connection after the request. Delays `100 Continue` until Fastify reads the body: the checks before
 * that refuse a request whose body is not wanted (RFC 9110, section 10.1.1).
 */
export function answerServerErrors (server: Server, reporter: ErrorReporter): void {
  // Undocumented, but the only way: Node ends the connection at once otherwise.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connect', (request: IncomingMessage, socket: ServedSocket) => {
    // Node has removed its listeners, which the end of the connection and an earlier response still need.
    for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy())
    socket.on('drain', () => socket._httpMessage?.emit('drain'))
    const message = 'The service is not a proxy: it does not support CONNECT.'
    endSocket(socket, reporter, new HttpError(405, message, { headers: { Allow: '' } }), { id: requestId(request) })
  })
  // Both go the way of every request, so that its limits hold: framingFault() refuses unknown expectations.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue()
    })
    server.emit('request', request, response)
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response)
  })
}

/** A listener that answers 503 without Fastify. Whether the bytes are a request at all is checked here, too. */
export function refuseOverload (reporter: ErrorReporter, onRefused: () => void): RequestListener {
  const overload = new HttpError(503, 'The service is overloaded. Try again in a moment.')
  return (request, response) => {
    answerEarly(request)
    const { status, headers, body } = write(reporter, framingFault(request) ?? overload, requestId(request))
    // The client may leave out the body that it announced, and send another request in its place.
    const close = request.headers.expect !== undefined && { Connection: 'close' }
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body), ...close }).end(body)
    onRefused()
  }
}

/** Requests answered before they arrived completely; their remaining bytes get no second response. */
const answeredEarly = new WeakMap<Socket, IncomingMessage>()

/** Time for a client to read its response while it sends the rest of a refused body. */
const lingerMs = 2000

/** The last response of a request whose connection may bring more bytes. */
export function answerEarly (request: IncomingMessage): void {
  const { socket } = request
  answeredEarly.set(socket, request)
  socket.destroySoon = () => endAndReadOn(socket)
}

/** Sockets that have their last bytes. */
const ended = new WeakSet<Socket>()

/**
 * Ends a connection, but reads on: closing it while bytes arrive resets it, and the reset may destroy the responses
 * (RFC 9112, section 9.6).
 */
function endAndReadOn (socket: Socket, lastBytes = ''): void {
  if (ended.has(socket)) return
  ended.add(socket)
  socket.end(lastBytes)
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

/** Errors that requests got in the middle of their bodies. They are in the log; reading the body then fails, too. */
const answeredInBody = new WeakMap<IncomingMessage, HttpError>()

function sendError (reporter: ErrorReporter, thrown: Error, request: FastifyRequest, reply: FastifyReply) {
  const error = answeredInBody.get(request.raw) ?? toHttpError(thrown)
  const { status, headers, body } = write(reporter, error, request.id)
  if (!answeredInBody.has(request.raw)) log(reporter, error, request)
  if (!request.raw.complete || !reply.raw.shouldKeepAlive) answerEarly(request.raw)
  return reply.code(status).headers(headers).send(body)
}

/** The response does not depend on the log: some errors, such as a frozen one, cannot be serialized. */
function log (reporter: ErrorReporter, error: HttpError, request: FailedRequest): void {
  try {
    reporter.log(error, request)
  } catch {
    reporter.log(internalError(new Error('The error cannot be logged.')), request)
  }
}

/** Maps Fastify's errors by code; their messages are for developers. */
function toHttpError (error: Error & { code?: string, statusCode?: number }): HttpError {
  if (error instanceof HttpError) return error
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE': return new HttpError(413, 'The body is larger than this service accepts.')
    case 'ECONNRESET': // Node's code for a client that disconnected in the middle of its body.
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HttpError(400, 'The length of the body does not match Content-Length.')
    case 'FST_ERR_BAD_URL': return new HttpError(400, 'The path of the request has invalid percent-encoding.')
    // Node accepts a method that Fastify has no routes for: PRI, which HTTP/2 reserves (RFC 9113, section 3.4).
    case 'FST_ERR_NOT_FOUND': return new HttpError(400, notHttp)
    default: return internalError(error)
  }
}

const notHttp = 'This is not an HTTP/1.1 request.'

function fromParser ({ code }: { code?: string }): HttpError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpError(431, `The header fields are too many, or larger than ${maxHeaderSize} bytes.`)
    case 'ERR_HTTP_REQUEST_TIMEOUT': return new HttpError(408, 'The request did not arrive in time.')
    default: return new HttpError(400, notHttp)
  }
}

/** HEAD gets no body (RFC 9110, section 9.3.2), also when its address or its header is malformed. */
function isHead ({ rawPacket }: { rawPacket?: unknown }): boolean {
  return Buffer.isBuffer(rawPacket) && rawPacket.toString('latin1', 0, 5) === 'HEAD '
}

function write (reporter: ErrorReporter, { status, message, headers }: HttpError, id: string) {
  const body = JSON.stringify(reporter.errorBody(status, message))
  // The condition may pass soon: every 503 says when to retry (RFC 9110, section 15.6.4).
  const retry = status === 503 ? { 'Retry-After': '1' } : {}
  const type = 'application/json; charset=utf-8'
  return { status, body, headers: { [requestIdField]: id, 'Content-Type': type, ...retry, ...headers } }
}

/** Sockets whose error waits for a pending response. */
const waitingToEnd = new WeakSet<Socket>()

/** Writes an error directly to a socket after its pending response, then closes it. */
function endSocket (
  socket: ServedSocket,
  reporter: ErrorReporter,
  error: HttpError,
  { id, isHead = false }: { id?: string | undefined, isHead?: boolean }
): void {
  // A complete pending request gets its own response first.
  const pending = socket._httpMessage
  if (pending?.req.complete === true) {
    // Each further piece of malformed bytes is an error too; the first is enough.
    if (waitingToEnd.has(socket)) return
    waitingToEnd.add(socket)
    pending.once('finish', () => {
      waitingToEnd.delete(socket)
      endSocket(socket, reporter, error, { id, isHead })
    })
    return
  }
  if (answeredEarly.get(socket)?.complete === false) return endAndReadOn(socket)
  if (ended.has(socket) || !socket.writable) return
  const failed = failedRequest(socket, pending?.req, id)
  if (pending) answeredInBody.set(pending.req, error)
  log(reporter, error, failed)
  const { status, headers, body } = write(reporter, error, failed.id)
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  endAndReadOn(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${isHead ? '' : body}`)
}

/** @param request the one whose body broke off, if there is one */
function failedRequest (
  socket: Socket,
  request: IncomingMessage | undefined,
  id = request === undefined ? randomUUID() : requestId(request)
): FailedRequest {
  const sender = { id, ip: socket.remoteAddress ?? '', socket }
  if (request === undefined) return sender
  const { method, url, headers } = request as IncomingMessage & { method: string, url: string }
  return knownRequest(request) ?? { ...sender, method, url, headers }
}
