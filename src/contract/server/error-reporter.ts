// The two ways of an error: to the caller in the shape of the application, to the operator as a
// line in the log.
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { type HttpError, internalError, type RequestFault } from './http-error.ts'
import { requestIdField } from './request-id.ts'

/** How the application writes and logs errors. */
export interface ErrorReporter {
  /** The body of the response, which is sent as JSON. */
  errorBody: (status: number, message: string, details: ErrorDetails) => object
  /** The media type of the body; by default `application/json; charset=utf-8`. */
  contentType?: string | undefined
  log: (error: SentError, request: FailedRequest) => void
}

/** What an error body may say besides its status and its sentence. */
export interface ErrorDetails {
  /** The value of X-Request-Id. */
  requestId: string
  /** The parts of the request that are wrong; none of other errors than a 400 of the engine. */
  faults: readonly RequestFault[]
}

/** An error as it is sent, and what caused it. */
export interface SentError { status: number, message: string, cause?: unknown }

/** A request that gets an error. Of bytes that are not HTTP only the sender is known. */
export interface FailedRequest {
  readonly id: string
  readonly ip: string
  readonly socket: Pick<Socket, 'remoteAddress'>
  readonly method?: string
  readonly url?: string
  readonly headers?: IncomingHttpHeaders
}

/** @param id of the request */
export function writeError (
  { errorBody, contentType = 'application/json; charset=utf-8' }: ErrorReporter,
  { status, message, headers, faults }: HttpError,
  id: string
): { status: number, headers: Record<string, string>, body: string } {
  const fields: Record<string, string> = { [requestIdField]: id, 'Content-Type': contentType }
  // The condition may pass soon: every 503 says when to retry (RFC 9110, section 15.6.4).
  if (status === 503) fields['Retry-After'] = '1'
  Object.assign(fields, headers)
  const body = errorBody(status, message, { requestId: id, faults })
  return { status, headers: fields, body: JSON.stringify(body) }
}

/** Some errors, such as a frozen one, cannot be serialized: their responses do not depend on it. */
export function reportError (
  reporter: ErrorReporter,
  error: HttpError,
  request: FailedRequest
): void {
  try {
    reporter.log(error, request)
  } catch {
    reporter.log(internalError(new Error('The error cannot be logged.')), request)
  }
}
