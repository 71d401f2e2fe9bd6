// An error of a request: the message is for the caller, the cause for the log.

/** The error statuses of the engine, and last those that only hooks and handlers throw. */
export type ErrorStatus =
  | 400 // malformed HTTP, not JSON, or not what the contract says
  | 401 // no credentials, or not accepted
  | 403 // credentials without permission
  | 404 // unknown path
  | 405 // another method on a known path
  | 406 // no media type of the operation is in Accept
  | 408 // the request did not arrive in time
  | 412 // a condition of the request about a file of /docs
  | 413 // the body is too large
  | 414 // the address is too long, or a parameter in the path
  | 415 // another media type or a Content-Encoding
  | 416 // a range beyond the end of a file of /docs
  | 417 // an Expect other than 100-continue
  | 429 // too many requests
  | 431 // the header is too large
  | 500 // internal error
  | 501 // a Transfer-Encoding other than chunked, or an operation that is not implemented yet
  | 503 // not now: overload, shutdown, no storage, no response in time
  | 505 // a version of HTTP other than 1.0 and 1.1
  | 402 | 409 | 410 | 411 | 421 | 422 | 423 | 424 | 426 | 428 | 451 | 502 | 504 | 507

/** What is wrong with one part of a request. */
export interface RequestFault {
  /** Where: `body`, or as OpenAPI names the places of parameters. */
  in: string
  /** In a body the JSON pointer (RFC 6901), else the name of the parameter. */
  path: string
  /** A sentence. */
  message: string
}

interface Details {
  cause?: unknown
  headers?: Record<string, string>
  faults?: readonly RequestFault[]
}

/** Thrown in hooks, handlers and routes: the caller gets its status and message. */
export class HttpError extends Error {
  readonly status: ErrorStatus
  /** Header fields of the response, such as the challenge of a 401. */
  readonly headers: Readonly<Record<string, string>>
  /** The parts of the request that are wrong; the message has the sentences of all. */
  readonly faults: readonly RequestFault[]

  /** @throws RangeError for a status of no error, which JavaScript may give */
  constructor (
    status: ErrorStatus,
    message: string,
    { cause, headers = {}, faults = [] }: Details = {}
  ) {
    if (!(status >= 400 && status < 600)) {
      throw new RangeError(`The status of an HttpError is one from 400 to 599, not ${status}.`)
    }
    // Recording a stack takes longer than the rest of an error. The log shows that of the cause.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, { cause })
    Error.stackTraceLimit = stackTraceLimit
    this.status = status
    this.headers = headers
    this.faults = faults
  }
}

/** A 500: the caller gets no details, the log gets the cause. */
export function internalError (cause: unknown): HttpError {
  const message = 'The service failed. Its log records the cause.'
  return new HttpError(500, message, { cause: cause ?? new Error(`The code threw ${cause}.`) })
}

export function bodyTooLarge (limit: number): HttpError {
  return new HttpError(413, `The body is larger than ${limit} bytes, the limit of this service.`)
}

/** Keeps an HttpError; any other error becomes 500. */
export function asHttpError (thrown: unknown): HttpError {
  return thrown instanceof HttpError ? thrown : internalError(thrown)
}
