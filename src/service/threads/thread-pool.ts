// Serves HTTP in several threads on one port. The main thread owns the engine, the credentials and
// the log. The threads start and end together; one that fails is replaced.
import { claimPort } from 'fastify-openapi-contract/server'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { OpenCredentials } from '../../auth/verifier.ts'
import { killAtExit } from '../../kill-at-exit.ts'
import { createConnector } from '../../stores/remote-engine.ts'
import type { LogOutput } from '../../telemetry/log-output.ts'
import type { AppServerOptions } from '../app-server.ts'
import { wayOutOf } from '../listen.ts'
import { HttpThread, type ThreadCall } from './http-thread.ts'

/** Milliseconds. A thread that failed soon after its start, or during it, is replaced later. */
const replace = { soon: 10_000, pause: 1000 }
/** A thread that misses so many beats has hung, for example in an endless loop. */
const maxMissedBeats = 10

interface PoolOptions extends Omit<AppServerOptions, 'thread'> {
  credentials: OpenCredentials
  /** The output of the log. */
  output: LogOutput
  /** Ends the service because of an error. */
  fail: (error: Error) => void
}

/** No thread listens any more, and none can. */
class NoListener extends Error {}

export class ThreadPool {
  readonly #options: PoolOptions
  readonly #first: HttpThread
  readonly #connect: (port: MessagePort) => void
  /** By index in the shared memory. A failed thread may still be finishing its requests. */
  readonly #running = new Map<number, HttpThread>()
  readonly #listening = new Set<HttpThread>()
  #starting: Promise<unknown> = Promise.resolve()
  #port = 0
  #isClosing = false

  /** @param first a thread that may have begun to load its modules */
  constructor (options: PoolOptions, first: HttpThread) {
    this.#options = options
    this.#first = first
    this.#connect = createConnector(options.engine)
    options.credentials.follow(change => {
      for (const thread of this.#running.values()) thread.send({ change })
    })
  }

  /** Starts the first thread. The others start once it listens: startup takes no longer. */
  start (): Promise<void> {
    return this.#start(this.#first)
  }

  /** Resolves to the address once the first thread listens. */
  async listen (port: number): Promise<string> {
    const address = await this.#join(this.#first, port)
    // An address of IPv6 may have a zone, which is none of a URL.
    this.#port = Number(address.slice(address.lastIndexOf(':') + 1))
    this.#keep(this.#first)
    for (let thread = 1; thread < this.#options.shared.threads; thread++) this.#keep()
    return address
  }

  /** Finishes the requests that are in progress, and closes the engine. */
  async close (): Promise<void> {
    this.#isClosing = true
    await Promise.all(Array.from(this.#running.values(), thread => thread.close()))
    await this.#options.engine.close()
  }

  /** Replaces a thread whenever it fails. Ends the service when none listens, and none can. */
  async #keep (first?: HttpThread): Promise<void> {
    const { log, shared: { threads }, fail } = this.#options
    let thread = first
    let failed: HttpThread | undefined
    while (!this.#isClosing) {
      // A pause follows each start that fails.
      let began = Infinity
      let reason: string
      try {
        thread ??= await this.#startAnother()
        began = performance.now()
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

  /** Lets a failed thread finish its requests, once its successor listens: the port stays open. */
  #dismiss (thread: HttpThread): void {
    this.#listening.delete(thread)
    thread.send({ leave: true })
  }

  /** Starts threads one after another: each has the time limit of its start for itself. */
  #startAnother (): Promise<HttpThread> {
    const starting = this.#starting.then(() => this.#startNow())
    this.#starting = starting.catch(() => {})
    return starting
  }

  async #startNow (): Promise<HttpThread> {
    this.#refuseWhenClosing()
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
    const { config, maxConnections, credentials, shared } = this.#options
    const { connections, beats, metrics } = shared
    const free = connections.findIndex((_open, index) => !this.#running.has(index))
    if (free < 0) throw new Error('too many failed threads are still finishing their requests')
    this.#running.set(free, thread)
    thread.ended.then(() => {
      this.#listening.delete(thread)
      this.#running.delete(free)
      Atomics.store(connections, free, 0)
      metrics.queued[free] = 0
      if (thread.isStuck) this.#onStuck()
    })
    const state = credentials.state()
    const options = { config, maxConnections, credentials: state, thread: free, shared }
    await thread.start(options, call => this.#serve(call, thread))
    thread.endWithoutBeats(() => Atomics.load(beats, free), maxMissedBeats)
  }

  /** Serves a call of a thread. */
  #serve (call: ThreadCall, thread: HttpThread): void {
    const { output, credentials } = this.#options
    if ('line' in call) output.write(call.line)
    else if ('connect' in call) this.#connect(call.connect)
    else credentials.keys?.renew().then(() => thread.send({ renewed: true }))
  }

  /** Where no thread listens, the next one claims the port. */
  async #join (thread: HttpThread, port: number): Promise<string> {
    this.#refuseWhenClosing()
    const isOurs = this.#listening.size > 0
    const address = await (isOurs ? thread.listen(port) : this.#listenAlone(thread, port))
    this.#listening.add(thread)
    return address
  }

  #refuseWhenClosing (): void {
    if (this.#isClosing) throw new Error('the service is shutting down')
  }

  async #listenAlone (thread: HttpThread, port: number): Promise<string> {
    const { config, log } = this.#options
    try {
      const warn = log.warn.bind(log)
      const release = await claimPort(config.host, port, warn, wayOutOf('PORT'))
      return await thread.listen(port).finally(release)
    } catch (error) {
      throw new NoListener((error as Error).message, { cause: error })
    }
  }

  /** Node waits for all threads when it exits: the process must be killed at its exit. */
  #onStuck (): void {
    killAtExit()
    if (this.#isClosing) return
    const problem = 'A call to the system holds a thread, which cannot be ended'
    this.#options.fail(new Error(`${problem}: the service ends.`))
  }
}
