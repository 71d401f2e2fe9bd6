// Serves HTTP in several threads on one port. They share an engine, a log and their limits, and start and end together;
// a thread that fails is replaced.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { ListenOptions } from 'node:net'
import { lookup } from 'node:dns/promises'
import { availableParallelism, totalmem } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { Logger } from 'pino'
import { cannotListen } from './config.ts'
import type { Config } from './config.ts'
import type { LogOutput } from './log-output.ts'
import { containerMemory } from './memory-limit.ts'
import type { Service, ServiceOptions } from './service.ts'
import { createShared } from './shared.ts'
import type { Engine } from './stores/group-commit.ts'
import { sharing } from './stores/remote.ts'

/** What the main thread sends to a thread: a port to listen at, or that it shall end. */
export type ToThread = { listen: number } | { close: true }
/** What a thread sends: a line of the log, a port for the engine, the steps of its start, and its failure. */
export type FromThread = { line: string } | { connect: MessagePort } | { ready: Pick<Service, 'ownTokenFile'> } |
  { listening: string } | { failed: string }
export type ThreadData = Omit<ServiceOptions, 'engine' | 'log'>

/** More threads than this would wait for the one that stores. */
const most = 4
/** Bytes of memory for each thread. */
const memoryOfThread = 512 * 2 ** 20
/** MiB. With V8's default of 48, it would copy the requests of thousands of connections again and again. */
const youngMiB = 96

/**
 * The number of threads: by default one for each core, as far as there is memory for them.
 * @param warn gets a sentence when there is only one, because threads cannot share a port on this system
 */
export async function countThreads (wanted: number | undefined, warn: (sentence: string) => void): Promise<number> {
  const byDefault = Math.max(1, Math.min(most, availableParallelism(), Math.floor(memory() / memoryOfThread)))
  const threads = wanted ?? byDefault
  if (threads === 1) return 1
  try {
    // Linux and some other systems can (SO_REUSEPORT).
    await listenBriefly({ host: '127.0.0.1', port: 0, reusePort: true })
    return threads
  } catch (error) {
    const reason = (error as Error).message
    warn(`The service runs in one thread instead of ${threads}: they cannot share a port (${reason}).`)
    return 1
  }
}

/** Bytes of the machine or of the container. */
function memory (): number {
  return Math.min(totalmem(), containerMemory())
}

async function listenBriefly (options: ListenOptions): Promise<void> {
  const server = createServer().listen(options)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

export interface ThreadsOptions extends Omit<ThreadData, 'thread' | 'shared'> {
  threads: number
  engine: Promise<Engine>
  log: Logger
  output: LogOutput
}

/** Starts the threads. The service that they are listens and closes as one. */
export async function startThreads ({ threads, engine, log, output, ...options }: ThreadsOptions): Promise<Service> {
  const { config } = options
  const shared = createShared(threads)
  const share = engine.then(sharing)
  const connect = (port: MessagePort) => { share.then(connect => connect(port)) }
  const running = new Set<HttpThread>()
  let closing: Promise<void> | undefined
  let port = 0

  async function start (thread: number): Promise<HttpThread> {
    const started = await startThread({ ...options, thread, shared }, { connect, output })
    running.add(started)
    started.ended.then(() => {
      running.delete(started)
      Atomics.store(shared.connections, thread, 0)
    })
    return started
  }

  async function replace (thread: HttpThread): Promise<void> {
    const reason = await thread.failed
    if (closing !== undefined) return
    log.fatal(`A thread has failed, and another one replaces it: ${reason}`)
    const next = await start((thread.index + threads) % (2 * threads))
    if (closing === undefined) await next.listen(port)
    replace(next)
  }

  const starting = Array.from({ length: threads }, (_, index) => start(index))
  const [opened, ...all] = await Promise.all([engine, ...starting])
  return {
    ownTokenFile: all[0]?.ownTokenFile,
    async listen (wanted) {
      if (wanted !== 0) await refuseTaken(config)
      const [first, ...others] = all as [HttpThread, ...HttpThread[]]
      const address = await first.listen(wanted)
      port = Number(new URL(address).port)
      await Promise.all(others.map(thread => thread.listen(port)))
      all.forEach(replace)
      return address
    },
    close () {
      closing ??= Promise.all(Array.from(running, thread => thread.close())).then(() => opened.close())
      return closing
    }
  }
}

/** Another service that shares its ports would get a part of the requests. */
async function refuseTaken (config: Config): Promise<void> {
  try {
    const { address: host } = await lookup(config.host, { order: 'ipv4first' })
    await listenBriefly({ host, port: config.port })
  } catch (error) {
    throw cannotListen(config, error as Error)
  }
}

interface HttpThread extends Pick<Service, 'ownTokenFile' | 'listen'> {
  index: number
  /** Resolves to the reason when the thread must be replaced. */
  failed: Promise<string>
  ended: Promise<unknown>
  close: () => Promise<unknown>
}

interface ThreadParts { connect: (port: MessagePort) => void, output: LogOutput }

/** Resolves once the thread is ready to listen. */
async function startThread (data: ThreadData, { connect, output }: ThreadParts): Promise<HttpThread> {
  const worker = new Worker(new URL('./http-thread.ts', import.meta.url), {
    workerData: data,
    resourceLimits: memory() < data.shared.threads * memoryOfThread ? {} : { maxYoungGenerationSizeMb: youngMiB }
  })
  const send = (message: ToThread) => worker.postMessage(message)
  const ready = Promise.withResolvers<Pick<Service, 'ownTokenFile'>>()
  const listening = Promise.withResolvers<string>()
  const failed = Promise.withResolvers<string>()
  const ended = new Promise(resolve => worker.once('exit', resolve))
  listening.promise.catch(() => {})
  worker.on('message', (message: FromThread) => {
    if ('line' in message) output.write(message.line)
    else if ('connect' in message) connect(message.connect)
    else if ('ready' in message) ready.resolve(message.ready)
    else if ('listening' in message) listening.resolve(message.listening)
    else failed.resolve(message.failed)
  })
  worker.on('error', error => {
    ready.reject(error)
    listening.reject(error)
    failed.resolve(String(error))
  })
  return {
    index: data.thread,
    ...await ready.promise,
    listen (port) {
      send({ listen: port })
      return listening.promise
    },
    failed: failed.promise,
    ended,
    close () {
      send({ close: true })
      return ended
    }
  }
}
