// What happens to requests and bodies that wait for their turn of the event loop.
import { HttpError } from './http-error.ts'

/** Milliseconds that a request may wait until it begins, and its body until it is parsed. */
export const maxWaitMs = 500

/** The error of those that have waited longer. */
export function overloaded (): HttpError {
  return new HttpError(503, 'The service is overloaded. Try again in a moment.')
}
