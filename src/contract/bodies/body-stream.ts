// The bytes of a request's body as a stream that a handler may read, leave or destroy.
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { bodyTooLarge, HttpError } from '../server/http-error.ts'

/**
 * Reads the request up to a limit and only while it is read itself: a slow reader slows the sender.
 * It never destroys the request, because that would close the connection before the response.
 */
export class BodyStream extends Readable {
  readonly #request: IncomingMessage
  readonly #limit: number
  #bytesLeft: number
  #isAttached = false

  constructor (request: IncomingMessage, limit: number) {
    super()
    this.#request = request
    this.#limit = limit
    this.#bytesLeft = limit
    // Without a listener, an error before the handler reads would end the process.
    this.on('error', () => {})
    request.once('error', this.#breakOff)
    if (request.destroyed && !request.readableEnded) this.#breakOff()
  }

  override _read (): void {
    if (!this.#isAttached) this.#request.on('data', this.#take).on('end', this.#end)
    this.#isAttached = true
    this.#request.resume()
  }

  override _destroy (error: Error | null, done: (error: Error | null) => void): void {
    this.#request.off('data', this.#take).off('end', this.#end)
    if (!this.#request.readableEnded) this.#request.pause()
    done(error)
  }

  readonly #take = (chunk: Buffer) => {
    this.#bytesLeft -= chunk.length
    if (this.#bytesLeft < 0) this.destroy(bodyTooLarge(this.#limit))
    else if (!this.push(chunk)) this.#request.pause()
  }

  readonly #end = () => { this.push(null) }

  readonly #breakOff = () => {
    this.destroy(new HttpError(400, 'The body ended before it was complete.'))
  }
}
