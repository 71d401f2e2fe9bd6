// Starts the service: configuration, engine, credentials, HTTP, shutdown.
import closeWithGrace from 'close-with-grace'
import { connectionLimit } from 'fastify-openapi-contract/server'
import { dirname, join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { openCredentials, type OpenCredentials, TokenFileError } from '../auth/verifier.ts'
import { type Config, ConfigError, readConfig } from '../config/config.ts'
import { loadEnvFile } from '../config/env-file.ts'
import { createPrivately } from '../private-files.ts'
import type { AppServer, AppServerOptions } from '../service/app-server.ts'
import { createSharedMemory, type SharedMemory } from '../service/shared-memory.ts'
import { HttpThread } from '../service/threads/http-thread.ts'
import { countThreads } from '../service/threads/thread-count.ts'
import { ThreadPool } from '../service/threads/thread-pool.ts'
import type { Engine } from '../stores/engine.ts'
import { describeStore, lacksFile, openEngine, sqlitePath } from '../stores/open.ts'
import { type LogOutput, StandardOutput } from '../telemetry/log-output.ts'
import { createLog, makeReadable } from '../telemetry/log.ts'

// Longer than the longest SHUTDOWN_DELAY and a request (5 s and 22 s), shorter than the 30 s that
// supervisors allow.
const closeWithinMs = 28_000
// Signals of a fault must end the process: a listener would return to the failed instruction.
const faults = ['SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP'] as const

// npm passes these on. A terminal, or a supervisor that ends a group of processes, sends them to
// the service, too.
const repeated = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const sameSignalMs = 500
const ignore = (): void => {}
let isEnding = false

/**
 * Starts the service of the environment and of .env, and ends the process when that fails.
 * @param firstThread a thread that is loading its modules, if there may be several
 * @throws Error when a package is missing, because a part of the service loads late
 */
export async function start (firstThread: HttpThread | undefined): Promise<void> {
  createPrivately()
  // Node would open its debugger for every user of the machine.
  process.on('SIGUSR1', ignore)
  try {
    const { names, warnings } = loadEnvFile()
    const config = readConfig(process.env, names, process.stdout.isTTY)
    await run(config, [...warnings, ...config.unread], firstThread)
  } catch (error) {
    // A signal during startup ends what is starting.
    if (isEnding) return
    if (Object(error).code === 'ERR_MODULE_NOT_FOUND') throw error
    const isMistake = error instanceof ConfigError || error instanceof TokenFileError
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    // The service's own errors are sentences. The stack of others, such as those of a bug, tells
    // their place. Further members of an error may be secret addresses.
    console.error(isMistake || message.endsWith('.') ? message : stack)
    process.exit(isMistake ? 2 : 1)
  }
}

async function run (
  config: Config,
  warnings: readonly string[],
  firstThread: HttpThread | undefined
): Promise<void> {
  const output = new StandardOutput(process.stdout, sentence => log.error(sentence))
  process.once('exit', () => output.flush())
  const lines = await makeReadable(output, process.stdout)
  const log = createLog(config.logLevel, lines)
  let close = async (): Promise<void> => {}
  closeOnSignals(log, () => close())
  const warn = (sentence: string) => log.warn(sentence)
  warnings.forEach(warn)
  const threads = countThreads(config.threads, warn)
  const maxConnections = connectionLimit(config, threads, warn, 'MAX_CONNECTIONS')
  const place = describeStore(config.databaseUrl)
  const ownTokenFile = join(dataDirectory(config.databaseUrl), 'access-token')
  const shared = createSharedMemory(threads)
  // The modules of the service load meanwhile.
  const opening = openParts(config, ownTokenFile, log)
  const options = { config, log, maxConnections, shared }
  const service = await openService(opening, options, lines, firstThread)
  const { isOwn, isNew, close: closeCredentials } = (await opening).credentials

  const metrics = await openMetrics(config, shared, log)
  close = async () => {
    closeCredentials()
    await service.close()
    await metrics?.close()
  }
  const address = await service.listen(config.port)
  log.info(`storing plants in ${place}`)
  if (metrics !== undefined) log.info(`metrics at ${metrics.address}`)
  if (['0.0.0.0', '::'].includes(config.host)) log.info(everyAddress)
  log.info(`listening at ${address}`)
  // A program that reads the log expects nothing but JSON lines.
  const isForPerson = isNew && config.onTerminal
  if (isForPerson) output.write(describeFirstRequest(address, config.baseUrl, ownTokenFile))
  else if (isNew) log.info(`created a new access token in ${ownTokenFile}`)
  else if (isOwn) log.info(`the access token is in ${ownTokenFile}`)
}

const newFile = 'DATABASE_URL named a file that did not exist, so the service has created an ' +
  'empty database. If there should be plants, check the path and the mount of its folder.'
const everyAddress = 'the service listens at every address of this machine, because HOST says so'

/** A signal during startup ends the process too: a container ignores signals without a handler. */
function closeOnSignals (log: Logger, close: () => Promise<void>): void {
  const options = { delay: closeWithinMs, logger: log, skip: [...faults] }
  closeWithGrace(options, async ({ err, signal }) => {
    isEnding = true
    suspendRepeatedSignals()
    if (err !== undefined) log.fatal(err, 'shutting down after an uncaught error')
    else log.info(`shutting down after ${signal}`)
    await close()
  })
  // While there is no other listener, a second signal would kill the process.
  for (const signal of repeated) process.on(signal, ignore)
}

/** For a moment a second signal does nothing. */
function suspendRepeatedSignals (): void {
  for (const signal of repeated) {
    const listeners = process.listeners(signal).filter(listener => listener !== ignore)
    for (const listener of listeners) process.off(signal, listener)
    setTimeout(() => {
      for (const listener of listeners) process.on(signal, listener)
    }, sameSignalMs).unref()
  }
}

interface Parts { engine: Engine, credentials: OpenCredentials }

async function openParts (config: Config, ownTokenFile: string, log: Logger): Promise<Parts> {
  const isUnexpected = config.namesDatabase && lacksFile(config.databaseUrl)
  const engine = await openEngine(config.databaseUrl, sentence => log.warn(sentence))
  // At once: the next start finds the file, even if this one fails.
  if (isUnexpected) log.warn(newFile)
  return { engine, credentials: await openCredentials({ ...config, ownTokenFile }, log) }
}

/** Opens the service in this thread, or in several. */
async function openService (
  opening: Promise<Parts>,
  options: Pick<AppServerOptions, 'config' | 'log' | 'maxConnections' | 'shared'>,
  output: LogOutput,
  firstThread: HttpThread | undefined
): Promise<Pick<AppServer, 'listen' | 'close'>> {
  if (options.shared.threads > 1) {
    const first = firstThread ?? newThread()
    const parts = await opening
    const pool = new ThreadPool({ ...options, ...parts, output, fail: throwUncaught }, first)
    await pool.start()
    return pool
  }
  firstThread?.end()
  const loading = import('../service/app-server.ts')
  const [{ openAppServer }, parts] = await Promise.all([loading, opening])
  return openAppServer({ ...options, ...parts, thread: 0 })
}

function newThread (): HttpThread {
  try {
    return new HttpThread()
  } catch (cause) {
    const problem = `The process cannot start a thread: ${(cause as Error).message}`
    throw new Error(`${problem}; raise its limit (ulimit -u, TasksMax, pids.max).`, { cause })
  }
}

/** Ends the service like an error that nobody caught: its requests are finished first. */
function throwUncaught (error: Error): void {
  queueMicrotask(() => { throw error })
}

/** The server of METRICS_PORT. */
async function openMetrics (config: Config, shared: SharedMemory, log: Logger) {
  const { metricsPort } = config
  if (metricsPort === undefined) return undefined
  const { listenForMetrics } = await import('../service/metrics-server.ts')
  return listenForMetrics(config, metricsPort, shared, log)
}

/** The folder for the service's own files: that of its database file. */
function dataDirectory (databaseUrl: string): string {
  const path = sqlitePath(databaseUrl)
  return resolve(path === undefined ? 'data' : dirname(path))
}

/** A curl command that reads the token from its file, so that the output has no token. */
function describeFirstRequest (address: string, baseUrl: string, tokenFile: string): string {
  const prefix = new URL(baseUrl, address).pathname.replace(/\/$/, '')
  const quoted = tokenFile.replaceAll("'", "'\\''")
  return `
  Plant Store   ${address}
  The contract  ${address}/docs
  Access token  ${tokenFile}

  curl ${address}${prefix}/plants -H "Authorization: Bearer $(cat '${quoted}')" \\
    -H 'Content-Type: application/json' -w '\\n' \\
    -d '{"id": 1, "name": "Boston fern", "tag": "fern"}'
`
}
