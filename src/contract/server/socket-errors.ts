// Answers what Node would answer without a body or not at all: overload, CONNECT, and bytes that
// are not HTTP. The framework answers all other requests.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  type ErrorReporter, type FailedRequest, reportError, writeError
} from './error-reporter.ts'
import { framingFault, unknownVersion } from './framing.ts'
import { HttpError } from './http-error.ts'
import { maxHeaderSize, STATUS_CODES } from './node-http.ts'
import type { ServedSocket } from './open-connections.ts'
import { Overload } from './overload.ts'
import { requestId } from './request-id.ts'

/**
 * Answers CONNECT, and clients that close their side of the connection after the request. Delays
 * `100 Continue` until the body is read: the checks before that refuse a request whose body is not
 * wanted (RFC 9110, section 10.1.1).
 */
export function answerServerErrors (server: Server, reporter: ErrorReporter): void {
  // Undocumented, but the only way: Node ends the connection at once otherwise.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connect', (request: IncomingMessage, socket: ServedSocket) => {
    // Node has removed its listeners. The connection and an earlier response still need them.
    for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy())
    socket.on('drain', () => socket._httpMessage?.emit('drain'))
    const message = 'The service is not a proxy: it does not support CONNECT.'
    const error = new HttpError(405, message, { headers: { Allow: '' } })
    endSocket(socket, reporter, error, { id: requestId(request) })
  })
  // Both become ordinary requests with their limits: framingFault() finds unknown expectations.
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

/** A listener that answers 503 to each request. */
export function answerOverload (reporter: ErrorReporter): RequestListener {
  return refuse(reporter, new Overload('its turn'))
}

/**
 * A listener that answers 414 to a long address, which takes long to decode and to parse, and
 * passes on all other requests.
 */
export function refuseLongAddresses (
  reporter: ErrorReporter,
  maxLength: number,
  handle: RequestListener
): RequestListener {
  const rule = `The address of the request is longer than ${maxLength} characters.`
  const tooLong = refuse(reporter, new HttpError(414, rule))
  return (request, response) => {
    const url = request.url as string
    const isLong = url.length > maxLength && url.replace(schemeAndHost, '').length > maxLength
    return isLong ? tooLong(request, response) : handle(request, response)
  }
}

/** Of a target in absolute form (RFC 9112, section 3.2.2). */
const schemeAndHost = /^https?:\/\/[^/?#]*/i

/** A listener that answers an error, or that of the request's framing, which it checks first. */
function refuse (reporter: ErrorReporter, refusal: HttpError): RequestListener {
  return (request, response) => {
    answerEarly(request)
    const error = framingFault(request) ?? refusal
    const { status, headers, body } = writeError(reporter, error, requestId(request))
    headers['Content-Length'] = String(Buffer.byteLength(body))
    // The client may leave out the body that it announced, and send another request in its place.
    if (request.headers.expect !== undefined) headers.Connection = 'close'
    response.writeHead(status, headers).end(body)
    reportError(reporter, error, failedRequest(request.socket, request, undefined))
  }
}

/** An error of the socket, or of Node's parser, with the bytes in which it found the error. */
interface ParserError extends Error {
  code?: string
  reason?: string
  rawPacket?: unknown
  bytesParsed?: number
}

/** A listener for Node's event `clientError`. */
export function answerClientError (
  reporter: ErrorReporter,
  error: ParserError,
  socket: ServedSocket
): void {
  // The client has left: ECONNRESET or EPIPE.
  if (socket.destroyed) return
  if (error.code === 'HPE_CLOSED_CONNECTION') return endAfterLast(socket)
  const request = socket.parser?.incoming ?? undefined
  const isBroken = request?.complete === false
  // It may have waited for an earlier response, and so not have been checked yet.
  const fault = isBroken ? framingFault(request) : undefined
  const found = fault ?? fromParser(error, isBroken, socket)
  const isHead = isBroken ? request.method === 'HEAD' : beginsHead(error, request)
  endSocket(socket, reporter, found, { isHead })
}

/**
 * Nothing is read after the request that closes the connection (RFC 9112, section 9.6). Its
 * response does not end the connection when `Connection: close` is in a trailer.
 */
function endAfterLast (socket: ServedSocket): void {
  // Each further piece is an error.
  if (ending.has(socket)) return
  ending.add(socket)
  const pending = socket._httpMessage
  if (pending) pending.once('finish', () => endAndReadOn(socket))
  else endAndReadOn(socket)
}

/** Sockets whose last response is on its way. */
const ending = new WeakSet<ServedSocket>()

/** @param hasHeader the header of the request has arrived */
function fromParser (
  { code, reason = '' }: ParserError,
  hasHeader: boolean,
  { server }: Socket
): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const { headersTimeout, requestTimeout } = server as Server
    const [part, ms, cause] = hasHeader
      ? ['request', requestTimeout, ', or its Content-Length is too large'] as const
      : ['header', headersTimeout, ''] as const
    return new HttpError(408, `The ${part} did not arrive within ${ms / 1000} s${cause}.`)
  }
  // The preface of HTTP/2 (RFC 9113, section 3.4).
  if (code === 'HPE_PAUSED_H2_UPGRADE') return unknownVersion
  if (code === 'HPE_INVALID_METHOD') return new HttpError(400, unknownMethod)
  if (code !== 'HPE_HEADER_OVERFLOW') {
    const [, fault] = faultsByReason.find(([pattern]) => pattern.test(reason)) ?? []
    return notHttp(fault ?? faultsByCode[String(code)])
  }
  const most = (server as Server).maxHeadersCount
  const size = `they and the address are larger than ${maxHeaderSize} bytes`
  return new HttpError(431, `There are more than ${most} header fields, or ${size}.`)
}

/** It may be HTTP/1.1, with a method that Node does not know. */
const unknownMethod = 'This is not an HTTP/1.1 request with a known method in capitals.'
const badFirstLine = 'its first line is not "METHOD /path HTTP/1.1" with CRLF'
const badChunk = 'a chunk of its body has an invalid size'
// No sentence shows bytes of the request: they may be a token, or another protocol.
/** By the reason of Node's parser, where one code has several. */
const faultsByReason: ReadonlyArray<[pattern: RegExp, fault: string]> = [
  [
    /char in url (?:server|path|query|fragment)/,
    'its address has a character that must be percent-encoded, as those beyond ASCII'
  ],
  [/after version/, badFirstLine],
  [/after header/, 'a header field has a CR or LF before the CRLF that ends it'],
  [/after chunk data/, 'a chunk of its body has another length than its size says'],
  [/after chunk/, badChunk]
]
const faultsByCode: Readonly<Record<string, string>> = {
  HPE_INVALID_URL: 'its address does not begin with /',
  HPE_INVALID_CONSTANT: badFirstLine,
  HPE_INVALID_VERSION: badFirstLine,
  HPE_INVALID_CONTENT_LENGTH:
    'its Content-Length is no number below 2^64, or is beside a Transfer-Encoding',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'its Content-Length is sent more than once',
  HPE_INVALID_TRANSFER_ENCODING: 'its Transfer-Encoding is not chunked, or not alone',
  HPE_INVALID_HEADER_TOKEN: 'a header field has an invalid name or value',
  HPE_INVALID_CHUNK_SIZE: badChunk,
  HPE_INVALID_EOF_STATE: 'the connection ended before it was complete'
}

export function notHttp (fault?: string): HttpError {
  const sentence = 'This is not an HTTP/1.1 request'
  return new HttpError(400, fault === undefined ? `${sentence}.` : `${sentence}: ${fault}.`)
}

/**
 * HEAD gets no body (RFC 9110, section 9.3.2), also when its header is malformed. The bytes may
 * have other requests before it.
 * @param before the request before it, whose body may look like a request
 */
function beginsHead (
  { rawPacket, bytesParsed = 0 }: ParserError,
  before: IncomingMessage | undefined
): boolean {
  if (!Buffer.isBuffer(rawPacket)) return false
  const blankLine = rawPacket.subarray(0, bytesParsed).lastIndexOf('\r\n\r\n')
  if (blankLine < 0) return rawPacket.toString('latin1', 0, 5) === 'HEAD '
  const { 'content-length': length, 'transfer-encoding': coding } = before?.headers ?? {}
  if (length !== undefined || coding !== undefined) return false
  return rawPacket.toString('latin1', blankLine + 4, blankLine + 9) === 'HEAD '
}

/** Milliseconds for a client to read its response while it sends the rest of a refused body. */
const lingerMs = 2000
/** Bytes of the rest that are read meanwhile. They take about 7 ms. */
export const maxRest = 8 * 2 ** 20

/** Call it before the last response of a request whose connection may bring more bytes. */
export function answerEarly ({ socket }: IncomingMessage): void {
  socket.destroySoon = () => endAndReadOn(socket)
}

/** Sockets that have their last bytes. */
const ended = new WeakSet<Socket>()

/**
 * Ends a connection, but reads on: closing it while bytes arrive resets it, and the reset may
 * destroy the responses (RFC 9112, section 9.6).
 */
function endAndReadOn (socket: ServedSocket, lastBytes = ''): void {
  if (ended.has(socket)) return
  ended.add(socket)
  // The client closed its side: the last response has ended the connection.
  if (!socket.writable) return
  socket.end(lastBytes)
  // Only before that does Node start to read a connection that was paused.
  if (socket.isPaused()) socket.once('resume', () => dropRest(socket))
  else dropRest(socket)
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

/**
 * Keeps what follows from the parser, which many small chunks would take long. A client that sends
 * more than maxRest has to wait: a reset at once would be more likely to destroy its response.
 */
function dropRest (socket: Socket): void {
  let left = maxRest
  const drop = (bytes: Buffer) => {
    left -= bytes.length
    if (left < 0) socket.pause()
  }
  // Node gives the bytes back to the socket then.
  socket.on('data', drop)
  for (const listener of socket.listeners('data')) {
    if (listener !== drop) socket.off('data', listener as () => void)
  }
}

/** Sockets whose error waits for a pending response. */
const waitingToEnd = new WeakSet<Socket>()

/** Writes an error to a socket after its pending response, then closes it. */
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
  // A second final response to a request could reach another client of a proxy.
  if (pending?.headersSent === true && !pending.writableEnded) {
    socket.destroy()
    return
  }
  const isAnswered = pending?.writableEnded ?? socket.parser?.incoming?.complete === false
  if (isAnswered) return endAndReadOn(socket)
  if (ended.has(socket)) return
  const failed = failedRequest(socket, pending?.req, id)
  if (pending) {
    answeredInBody.set(pending.req, error)
    pending.answered?.(error.status)
  }
  reportError(reporter, error, failed)
  const { status, headers, body } = writeError(reporter, error, failed.id)
  // Node adds these to all other responses.
  const length = Buffer.byteLength(body)
  const date = new Date().toUTCString()
  Object.assign(headers, { Date: date, 'Content-Length': length, Connection: 'close' })
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`
  endAndReadOn(socket, `${head}\r\n${isHead ? '' : body}`)
}

const answeredInBody = new WeakMap<IncomingMessage, HttpError>()

/** The error that a request got in the middle of its body. Reading that body then fails, too. */
export function errorInBody (request: IncomingMessage): HttpError | undefined {
  return answeredInBody.get(request)
}

const knownAs = Symbol('the request as the framework knows it')

interface KnownMessage extends IncomingMessage { [knownAs]?: FailedRequest }

/** Remembers the framework's request, which may have a caller, for errors in its body. */
export function rememberRequest (message: IncomingMessage, request: FailedRequest): void {
  (message as KnownMessage)[knownAs] = request
}

/** @param message the request whose body broke off, if there is one */
function failedRequest (
  socket: Socket,
  message: KnownMessage | undefined,
  id: string | undefined
): FailedRequest {
  const sender = { ip: socket.remoteAddress ?? '', socket }
  if (message === undefined) return { ...sender, id: id ?? randomUUID() }
  if (message[knownAs] !== undefined) return message[knownAs]
  const { method, url, headers } = message as IncomingMessage & { method: string, url: string }
  return { ...sender, id: id ?? requestId(message), method, url, headers }
}
