// The one error type of the service. Its message is for the caller, its cause for the log.

/** What went wrong, in words that know nothing of HTTP; src/contract/errors.ts holds the status of each. */
export type ErrorCode =
  | 'invalid' | 'unauthenticated' | 'forbidden' | 'not-found' | 'method-not-allowed' | 'timeout' | 'too-large'
  | 'unsupported-media-type' | 'expectation-failed' | 'too-many-requests' | 'headers-too-large' | 'internal' | 'unavailable'

export class ServiceError extends Error {
  readonly code: ErrorCode
  /** Header fields that the answer carries, such as the challenge of a 401. */
  readonly headers: Readonly<Record<string, string>>

  constructor (code: ErrorCode, message: string, { cause, headers = {} }: { cause?: unknown, headers?: Record<string, string> } = {}) {
    super(message, { cause })
    this.code = code
    this.headers = headers
  }
}

/** What was thrown, if it was for a caller; anything else is a failure, whatever it says of itself. */
export function asServiceError (thrown: unknown): ServiceError {
  return thrown instanceof ServiceError ? thrown : internal(thrown)
}

/** Something that must not happen did: the caller learns only that, the log gets the cause. */
export function internal (cause: unknown): ServiceError {
  return new ServiceError('internal', 'The service failed; its log says why.', { cause })
}
