// Serves HTTP in several threads on one port. The main thread owns the engine, the credentials and the log. The threads
// start and end together; one that fails is replaced.
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { OpenCredentials } from '../../auth/verifier.ts'
import type { LogOutput } from '../../telemetry/log-output.ts'
import type { Service } from '../service.ts'
import type { Engine } from '../../stores/engine.ts'
import { createConnector } from '../../stores/remote.ts'
import { HttpThread } from './http-thread.ts'
import type { ThreadOptions, Wish } from './http-thread.ts'
import { claimPort } from './port-claim.ts'
import type { Shared } from '../shared-counts.ts'

/** Milliseconds. A thread that failed soon after its start, or during it, is replaced after a pause. */
const replace = { soon: 10_000, pause: 1000 }
/** A thread has a beat each second. Without so many of them it has hung, for example in an endless loop. */
const missedBeats = 10

export interface PoolOptions extends Omit<ThreadOptions, 'thread' | 'credentials'> {
  /** It may have begun to load its modules. */
  firstThread: HttpThread | undefined
  engine: Promise<Engine>
  credentials: Promise<OpenCredentials>
  log: Logger
  output: LogOutput
  /** Ends the service because of an error. */
  fail: (error: Error) => void
}

/** No thread listens any more, and none can. */
class NoListener extends Error {}

/** The service that the threads are. */
export class ThreadPool implements Pick<Service, 'listen' | 'close'> {
  readonly #options: Omit<PoolOptions, 'engine' | 'credentials' | 'firstThread'>
  readonly #engine: Engine
  readonly #credentials: OpenCredentials
  readonly #connect: (port: MessagePort) => void
  readonly #shared: Shared
  readonly #first: HttpThread
  /** By the index that they have in the shared counts. A failed thread may still be finishing its requests. */
  readonly #running = new Map<number, HttpThread>()
  readonly #listening = new Set<HttpThread>()
  #joining: Promise<unknown> = Promise.resolve()
  #port = 0
  #isClosing = false

  /**
   * Starts the first thread, while the engine and the credentials open. The others start once it listens, so that the
   * service is there as soon as with one thread.
   */
  static async start (
    { engine, credentials, firstThread = new HttpThread(), ...options }: PoolOptions
  ): Promise<ThreadPool> {
    const [openEngine, openCredentials] = await Promise.all([engine, credentials])
    const pool = new ThreadPool(firstThread, openEngine, openCredentials, options)
    await pool.#start(firstThread)
    return pool
  }

  private constructor (
    first: HttpThread,
    engine: Engine,
    credentials: OpenCredentials,
    options: Omit<PoolOptions, 'engine' | 'credentials' | 'firstThread'>
  ) {
    this.#first = first
    this.#engine = engine
    this.#credentials = credentials
    this.#options = options
    this.#connect = createConnector(engine)
    this.#shared = options.shared
    credentials.follow(change => this.#running.forEach(thread => thread.send({ change })))
  }

  async listen (port: number): Promise<string> {
    const address = await this.#join(this.#first, port)
    this.#port = Number(new URL(address).port)
    this.#keep(this.#first)
    for (let thread = 1; thread < this.#shared.threads; thread++) this.#keep()
    return address
  }

  async close (): Promise<void> {
    this.#isClosing = true
    await Promise.all(Array.from(this.#running.values(), thread => thread.close()))
    await this.#engine.close()
  }

  /** Keeps one thread serving: starts another one when it fails. Ends the service when none listens, and none can. */
  async #keep (first?: HttpThread): Promise<void> {
    const { log, shared: { threads }, fail } = this.#options
    let thread = first
    let failed: HttpThread | undefined
    while (!this.#isClosing) {
      const began = performance.now()
      let reason: string
      try {
        thread ??= await this.#startAnother()
        if (failed !== undefined) this.#dismiss(failed)
        if (this.#listening.size === threads) log.info(`${threads} threads listen`)
        reason = await thread.failed
        failed = thread
      } catch (error) {
        if (error instanceof NoListener && !this.#isClosing) return fail(error)
        reason = String(error)
      }
      if (this.#isClosing) return
      thread = undefined
      log.fatal(`A thread has failed, and another one starts: ${reason}`)
      if (performance.now() - began < replace.soon) await sleep(replace.pause)
    }
  }

  /** Lets a failed thread finish its requests. Until its successor listens, it goes on: the port stays open. */
  #dismiss (thread: HttpThread): void {
    this.#listening.delete(thread)
    thread.send({ leave: true })
  }

  async #startAnother (): Promise<HttpThread> {
    const thread = new HttpThread()
    try {
      await this.#start(thread)
      await this.#join(thread, this.#port)
      return thread
    } catch (error) {
      thread.end()
      throw error
    }
  }

  async #start (thread: HttpThread): Promise<void> {
    const { connections, beats, metrics } = this.#shared
    const free = Array.from(connections.keys()).find(index => !this.#running.has(index))
    if (free === undefined) throw new Error('too many failed threads are still finishing their requests')
    this.#running.set(free, thread)
    thread.ended.then(() => {
      this.#listening.delete(thread)
      this.#running.delete(free)
      Atomics.store(connections, free, 0)
      metrics.queued[free] = 0
      if (thread.isStuck) this.#onStuck()
    })
    const { config, maxConnections } = this.#options
    const credentials = this.#credentials.state()
    const options = { config, maxConnections, credentials, thread: free, shared: this.#shared }
    await thread.start(options, wish => this.#grant(wish, thread))
    thread.endWithoutBeats(() => Atomics.load(beats, free), missedBeats)
  }

  #grant (wish: Wish, thread: HttpThread): void {
    if ('line' in wish) this.#options.output.write(wish.line)
    else if ('connect' in wish) this.#connect(wish.connect)
    else this.#credentials.keys?.renew().then(() => thread.send({ renewed: true }))
  }

  /** Lets threads listen, one after another. Where none does, the next one claims the port. */
  #join (thread: HttpThread, port: number): Promise<string> {
    const joining = this.#joining.then(async () => {
      if (this.#isClosing) throw new Error('the service is shutting down')
      const isOurs = this.#listening.size > 0
      const address = await (isOurs ? thread.listen(port) : this.#listenAlone(thread, port))
      this.#listening.add(thread)
      return address
    })
    this.#joining = joining.catch(() => {})
    return joining
  }

  async #listenAlone (thread: HttpThread, port: number): Promise<string> {
    const { config, log } = this.#options
    try {
      const release = await claimPort(config, port, sentence => log.warn(sentence))
      return await thread.listen(port).finally(release)
    } catch (error) {
      throw new NoListener((error as Error).message, { cause: error })
    }
  }

  /** Node waits for all threads when it exits: the process must be killed, after the others have finished. */
  #onStuck (): void {
    process.once('exit', process.kill.bind(process, process.pid, 'SIGKILL'))
    if (this.#isClosing) return
    this.#options.fail(new Error('A call to the system holds a thread, which cannot be ended: the service ends.'))
  }
}
