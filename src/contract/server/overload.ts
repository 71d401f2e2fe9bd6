// What happens to requests that wait too long because of others.
import { HttpError } from './http-error.ts'

/** Milliseconds that a request may wait for each limit of what runs at once. */
export const maxWaitMs = 500

/** The 503 of a request that has waited longer. */
export class Overload extends HttpError {
  /** Ends a sentence about the request. */
  readonly reason: string

  /** @param wanted what the request has waited for, such as `its turn` */
  constructor (wanted: string) {
    const reason = `waited more than ${maxWaitMs} ms for ${wanted}`
    super(503, `The service is overloaded: the request ${reason}. Try again in a moment.`)
    this.reason = reason
  }
}
