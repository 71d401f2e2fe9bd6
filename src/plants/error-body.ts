// Builds the contract's Error body, for handlers and all other error responses.
import type { ErrorBody } from './operations.ts'

/** @param status the HTTP status, which is also the value of `error` */
export function errorBody<Status extends number> (
  status: Status, message: string
): ErrorBody<Status> {
  return { error: status, message }
}
