// A thread that serves HTTP, as the main thread sees it; http-worker.ts runs in it.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { CredentialsState } from '../../auth/verifier.ts'
import type { Service, ServiceOptions } from '../app-server.ts'

/** What the main thread sends: the steps of the thread's life, changed credentials, and that it has read the keys. */
export type ToThread = { start: ThreadOptions } | { listen: number } | { leave: true } | { close: true } |
  { change: Partial<CredentialsState> } | { renewed: true }
/** What the thread sends: the steps of its life, and what it needs from the main thread. */
export type FromThread = { ready: true } | { listening: string } | { failed: string } | Wish
/** A line for the log, a port for the engine, or new keys. */
export type Wish = { line: string } | { connect: MessagePort } | { renewKeys: true }

export interface ThreadOptions extends Omit<ServiceOptions, 'engine' | 'credentials' | 'log'> {
  credentials: CredentialsState
}

/** Milliseconds. */
export const beatMs = 1000
/** Milliseconds within which a thread is ready, and within which it ends. A call to the system may hold it longer. */
const longest = { start: 20_000, end: 5000 }

/** Loads its modules at once, and then waits for start(). */
export class HttpThread implements Pick<Service, 'listen'> {
  readonly #worker = new Worker(new URL(`./http-worker${extname(import.meta.filename)}`, import.meta.url))
  readonly #ready = Promise.withResolvers<void>()
  readonly #listening = Promise.withResolvers<string>()
  readonly #failed = Promise.withResolvers<string>()
  readonly #ended = Promise.withResolvers<void>()
  #isStuck = false

  constructor () {
    // Those who wait for them get the error.
    for (const { promise } of [this.#ready, this.#listening]) promise.catch(() => {})
    this.#worker.on('error', error => this.#fail(error as Error))
    this.#worker.once('exit', () => {
      this.#fail(new Error('it has ended'))
      this.#ended.resolve()
    })
  }

  /** Resolves to the reason when the thread must be replaced. */
  get failed (): Promise<string> {
    return this.#failed.promise
  }

  /** Resolves once the thread has ended, or cannot be ended. */
  get ended (): Promise<void> {
    return this.#ended.promise
  }

  /** Whether a call to the system holds the thread: nothing but the end of the process frees its port. */
  get isStuck (): boolean {
    return this.#isStuck
  }

  /** Resolves once the thread can listen. */
  start (options: ThreadOptions, onWish: (wish: Wish) => void): Promise<void> {
    this.#worker.on('message', (message: FromThread) => {
      if ('ready' in message) this.#ready.resolve()
      else if ('listening' in message) this.#listening.resolve(message.listening)
      else if ('failed' in message) this.#failed.resolve(message.failed)
      else onWish(message)
    })
    this.send({ start: options })
    const reason = `it has not started within ${longest.start / 1000} seconds`
    const timer = setTimeout(() => this.#discard(reason), longest.start)
    const stopTimer = () => clearTimeout(timer)
    this.#ready.promise.then(stopTimer, stopTimer)
    return this.#ready.promise
  }

  listen (port: number): Promise<string> {
    this.send({ listen: port })
    return this.#listening.promise
  }

  close (): Promise<void> {
    this.send({ close: true })
    return this.#ended.promise
  }

  /**
   * Ends a thread that hangs.
   * @param beats returns the number of its beats, one each second
   * @param missed so many beats that fail to come mean that it hangs
   */
  endWithoutBeats (beats: () => number, missed: number): void {
    let last = beats()
    let silent = 0
    const timer = setInterval(() => {
      const latest = beats()
      silent = latest === last ? silent + 1 : 0
      last = latest
      if (silent < missed) return
      clearInterval(timer)
      this.#discard(`it has not responded for ${missed} seconds`)
    }, beatMs).unref()
    this.ended.then(() => clearInterval(timer))
  }

  /** Ends the thread at once, if it can be ended. */
  end (): void {
    this.#worker.terminate()
    const timer = setTimeout(() => {
      this.#isStuck = true
      this.#ended.resolve()
    }, longest.end)
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
