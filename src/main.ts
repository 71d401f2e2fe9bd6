// Starts the service: configuration, store, app, shutdown.
import closeWithGrace from 'close-with-grace'
import { ConfigError, readConfig } from './config.ts'
import type { Config } from './config.ts'
import { connectionLimit } from './connections.ts'
import { loadEnvFile } from './env-file.ts'
import { StandardOutput } from './log-output.ts'
import type { LogOutput } from './log-output.ts'
import { createLog, readable } from './log.ts'
import type { Service } from './service.ts'
import { createShared } from './shared.ts'
import { describeStore, openEngine } from './stores/open.ts'
import { countThreads, startThreads } from './threads.ts'
import type { ThreadsOptions } from './threads.ts'
import { keepTicksFast } from './ticks.ts'

// Longer than the longest SHUTDOWN_DELAY and a request (5 s and 20 s), shorter than the 30 s that supervisors allow.
const closeWithinMs = 28_000
// Signals of a fault, which must end the process: a listener would return to the instruction that failed.
const faults = ['SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP'] as const

// Milliseconds. On a terminal, Ctrl-C sends SIGINT to the service and to npm, which sends it to the service again.
const sameInterruptMs = 500
const ignore = (): void => {}

keepTicksFast()
// Node would open its debugger for every user of the machine.
process.on('SIGUSR1', ignore)
try {
  const namesInFile = loadEnvFile()
  await start(readConfig(process.env, namesInFile))
} catch (error) {
  console.error((error as Error).message)
  process.exit(error instanceof ConfigError ? 2 : 1)
}

async function start (config: Config): Promise<void> {
  const output = new StandardOutput(process.stdout, sentence => log.error(sentence))
  process.once('exit', () => output.flush())
  const lines = await readable(output, process.stdout.isTTY)
  const log = createLog(config.logLevel, lines)
  let close = async (): Promise<void> => {}
  // A signal during startup ends the process too: a container ignores signals that nobody handles.
  closeWithGrace({ delay: closeWithinMs, logger: log, skip: [...faults] }, async ({ err, signal }) => {
    ignoreSecondInterrupt()
    if (err !== undefined) log.fatal(err, 'shutting down after an uncaught error')
    else log.info(`shutting down after ${signal}`)
    await close()
  })
  // While there is no other listener, a second SIGINT would kill the process.
  process.on('SIGINT', ignore)
  const warn = (sentence: string) => log.warn(sentence)
  config.unread.forEach(warn)
  const threads = await countThreads(config.threads, warn)
  const maxConnections = connectionLimit(config, threads, warn)
  // It opens in another thread or over the network: meanwhile the modules of the service load.
  const place = describeStore(config.databaseUrl)
  const engine = openEngine(config.databaseUrl, warn)
  const options = { config, engine, log, maxConnections, threads }
  const service = await (threads === 1 ? openHere(options) : startThreads({ ...options, output: lines }))

  close = service.close
  const address = await service.listen(config.port)
  log.info(`storing plants in ${place}`)
  log.info(`listening at ${address}`)
  if (service.ownTokenFile !== undefined) printFirstRequest(output, address, config.baseUrl, service.ownTokenFile)
}

/** Suspends what happens at a second SIGINT for a moment. */
function ignoreSecondInterrupt (): void {
  const listeners = process.listeners('SIGINT').filter(listener => listener !== ignore)
  for (const listener of listeners) process.off('SIGINT', listener)
  setTimeout(() => listeners.forEach(listener => process.on('SIGINT', listener)), sameInterruptMs).unref()
}

async function openHere ({ engine, ...options }: Omit<ThreadsOptions, 'output' | 'threads'>): Promise<Service> {
  const { openService } = await import('./service.ts')
  return openService({ ...options, engine: await engine, thread: 0, shared: createShared(1) })
}

/** Prints a curl command that reads the token from its file, so that the log has no token. */
function printFirstRequest (output: LogOutput, address: string, baseUrl: string, tokenFile: string): void {
  const prefix = new URL(baseUrl, address).pathname.replace(/\/$/, '')
  output.write(`
  Plant Store   ${address}
  The contract  ${address}/docs
  Access token  ${tokenFile}

  curl ${address}${prefix}/plants -H "Authorization: Bearer $(cat '${tokenFile}')" \\
    -H 'Content-Type: application/json' -d '{"id": 1, "name": "Boston fern", "tag": "fern"}'
`)
}
