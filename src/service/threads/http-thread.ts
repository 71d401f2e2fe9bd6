// A thread that serves HTTP, as the main thread sees it; http-worker.ts runs in it.
import { extname } from 'node:path'
import { type MessagePort, Worker } from 'node:worker_threads'
import type { CredentialsState } from '../../auth/verifier.ts'
import type { AppServerOptions } from '../app-server.ts'

/** Messages of the main thread: steps of the thread's life, changed credentials, renewed keys. */
export type ToThread = { start: ThreadOptions } | { listen: number } | { leave: true } |
  { close: true } | { change: Partial<CredentialsState> } | { renewed: true }
/** Messages of the thread: the steps of its life, and its calls to the main thread. */
export type FromThread = { ready: true } | { listening: string } | { failed: string } | ThreadCall
/** Writes a line of the log, connects a port to the engine, or renews the keys of an issuer. */
export type ThreadCall = { line: string } | { connect: MessagePort } | { renewKeys: true }

export interface ThreadOptions extends Omit<AppServerOptions, 'engine' | 'credentials' | 'log'> {
  credentials: CredentialsState
}

/** Milliseconds between two beats, by which a thread shows that it does not hang. */
export const beatMs = 1000
/** Milliseconds. A call to the system may hold a thread for longer than it may take to end. */
const timeoutMs = { start: 20_000, end: 5000 }

/** Loads its modules at once, and then waits for start(). */
export class HttpThread {
  readonly #worker =
    new Worker(new URL(`./http-worker${extname(import.meta.filename)}`, import.meta.url))

  readonly #ready = Promise.withResolvers<void>()
  readonly #listening = Promise.withResolvers<string>()
  readonly #failed = Promise.withResolvers<string>()
  readonly #ended = Promise.withResolvers<void>()
  /** Resolves to the reason when the thread must be replaced. */
  readonly failed = this.#failed.promise
  /** Resolves once the thread has ended, or cannot be ended. */
  readonly ended = this.#ended.promise
  /** Whether a call to the system holds the thread: only the end of the process frees its port. */
  isStuck = false

  constructor () {
    // The callers of start() and listen() get the error, if there are any.
    for (const { promise } of [this.#ready, this.#listening]) promise.catch(() => {})
    this.#worker.on('error', error => this.#fail(error as Error))
    this.#worker.once('exit', () => {
      this.#fail(new Error('it has ended'))
      this.#ended.resolve()
    })
  }

  /** Resolves once the thread can listen. */
  start (options: ThreadOptions, onCall: (call: ThreadCall) => void): Promise<void> {
    this.#worker.on('message', (message: FromThread) => {
      if ('ready' in message) this.#ready.resolve()
      else if ('listening' in message) this.#listening.resolve(message.listening)
      else if ('failed' in message) this.#failed.resolve(message.failed)
      else onCall(message)
    })
    this.send({ start: options })
    const reason = `it has not started within ${timeoutMs.start / 1000} seconds`
    const timer = setTimeout(() => this.#discard(reason), timeoutMs.start)
    return this.#ready.promise.finally(() => clearTimeout(timer))
  }

  /** Resolves to the address. */
  listen (port: number): Promise<string> {
    this.send({ listen: port })
    return this.#listening.promise
  }

  /** Finishes the requests that are in progress. */
  close (): Promise<void> {
    this.send({ close: true })
    return this.ended
  }

  /**
   * Ends the thread when it hangs.
   * @param countBeats returns how many beats the thread has had, at least one each second
   * @param maxMissed consecutive beats that may be missed
   */
  endWithoutBeats (countBeats: () => number, maxMissed: number): void {
    let last = countBeats()
    let missed = 0
    const timer = setInterval(() => {
      const latest = countBeats()
      missed = latest === last ? missed + 1 : 0
      last = latest
      if (missed < maxMissed) return
      clearInterval(timer)
      this.#discard(`it has not responded for ${maxMissed} seconds`)
    }, beatMs).unref()
    this.ended.then(() => clearInterval(timer))
  }

  /** Ends the thread at once, if it can be ended. */
  end (): void {
    this.#worker.terminate()
    const timer = setTimeout(() => {
      this.isStuck = true
      this.#ended.resolve()
    }, timeoutMs.end)
    this.ended.then(() => clearTimeout(timer))
  }

  send (message: ToThread): void {
    this.#worker.postMessage(message)
  }

  #discard (reason: string): void {
    this.#fail(new Error(reason))
    this.end()
  }

  #fail (error: Error): void {
    this.#ready.reject(error)
    this.#listening.reject(error)
    this.#failed.resolve(String(error))
  }
}
