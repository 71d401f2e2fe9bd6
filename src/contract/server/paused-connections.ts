// Connections whose next request waits while many others do. A request that the system holds costs
// the service nothing; one that Node has read takes part in each garbage collection.
import type { IncomingMessage } from 'node:http'

/** Milliseconds. After such a pause, a request waits as others do, and may get 503. */
const maxPauseMs = 250

/** Paused connections in the order in which they are resumed. */
export class PausedConnections {
  readonly #paused: Array<{ resume: () => void, until: number }> = []

  get size (): number {
    return this.#paused.length
  }

  /** Stops reading from the connection of an answered request, unless its body still arrives. */
  pause ({ socket, complete }: IncomingMessage): void {
    if (!complete || socket.isPaused() || socket.destroyed) return
    socket.pause()
    this.postpone(() => socket.resume())
  }

  /** Postpones what follows on a connection. */
  postpone (resume: () => void): void {
    this.#paused.push({ resume, until: performance.now() + maxPauseMs })
  }

  /** Resumes `count` connections, and all whose pause has lasted long enough. */
  resume (count: number): void {
    const now = performance.now()
    for (let resumed = 0; this.#paused[0] !== undefined; resumed++) {
      if (resumed >= count && this.#paused[0].until > now) return
      this.#paused.shift()?.resume()
    }
  }
}
