// Starts the service: configuration, store, app, shutdown.
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { lookup } from 'node:dns/promises'
import { dirname, join, resolve } from 'node:path'
import { openVerifier } from './auth/verifier.ts'
import { ConfigError, readConfig } from './config.ts'
import type { Config } from './config.ts'
import { connectionLimit } from './connections.ts'
import { loadEnvFile } from './env-file.ts'
import { StandardOutput } from './log-output.ts'
import type { LogOutput } from './log-output.ts'
import { createLog, readable } from './log.ts'
import { memoryLimit } from './memory-limit.ts'
import { describeStore, openStore, sqlitePath } from './stores/open.ts'
import { keepTicksFast } from './ticks.ts'

// Longer than the longest SHUTDOWN_DELAY and a request (5 s and 20 s), shorter than the 30 s that supervisors allow.
const closeWithinMs = 28_000
// Longer than a request takes from a client to the service. A client that pauses longer may see its connection end.
const lingerMs = 1000
// Signals of a fault, which must end the process: a listener would return to the instruction that failed.
const faults = ['SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP'] as const

// npm passes these on. A terminal, or a supervisor that ends a group of processes, sends them to the service, too.
const repeated = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const sameSignalMs = 500
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
  const log = createLog(config.logLevel, await readable(output, process.stdout.isTTY))
  let close = async (): Promise<void> => {}
  // A signal during startup ends the process too: a container ignores signals that nobody handles.
  closeWithGrace({ delay: closeWithinMs, logger: log, skip: [...faults] }, async ({ err, signal }) => {
    ignoreRepeatedSignals()
    if (err !== undefined) log.fatal(err, 'shutting down after an uncaught error')
    else log.info(`shutting down after ${signal}`)
    await close()
  })
  // While there is no other listener, a second signal would kill the process.
  for (const signal of repeated) process.on(signal, ignore)
  config.unread.forEach(sentence => log.warn(sentence))
  const place = describeStore(config.databaseUrl)
  const storeOptions = {
    maxQueue: config.maxQueue,
    // The rest is for reading requests and for the batch that is being stored.
    maxQueueBytes: memoryLimit() / 8,
    onWarning: (sentence: string) => log.warn(sentence)
  }
  // The store opens in its own thread or over the network: load the modules of the app meanwhile.
  const [store, { buildApp }] = await Promise.all([openStore(config.databaseUrl, storeOptions), import('./app.ts')])
  const ownTokenFile = join(dataDirectory(config.databaseUrl), 'access-token')
  const tokens = await openVerifier({ ...config, ownTokenFile }, log)
  const maxConnections = connectionLimit(config, sentence => log.warn(sentence))
  const drainMs = { delayMs: config.shutdownDelayMs, lingerMs }
  const app = await buildApp({ ...config, maxConnections, drainMs, store, verifyToken: tokens.verify, log })

  close = async () => {
    tokens.close()
    await app.close()
    await store.close()
  }
  const address = await listen(app, config).catch(({ message }: Error) => {
    throw new Error(`Cannot listen on ${config.host}, port ${config.port}: ${message}. Set HOST and PORT to listen elsewhere.`)
  })
  log.info(`storing plants in ${place}`)
  log.info(`listening at ${address}`)
  if (tokens.isOwn) printFirstRequest(output, address, config.baseUrl, ownTokenFile)
}

/** Suspends what happens at a second signal for a moment. */
function ignoreRepeatedSignals (): void {
  for (const signal of repeated) {
    const listeners = process.listeners(signal).filter(listener => listener !== ignore)
    for (const listener of listeners) process.off(signal, listener)
    setTimeout(() => listeners.forEach(listener => process.on(signal, listener)), sameSignalMs).unref()
  }
}

/** Listens on one address. For the name localhost Fastify would add servers, without the limits and error answers. */
async function listen (app: FastifyInstance, { host, port }: Config): Promise<string> {
  const { address } = await lookup(host, { order: 'ipv4first' })
  return app.listen({ host: address, port })
}

/** The folder for the service's own files: that of its database file. */
function dataDirectory (databaseUrl: string): string {
  const path = sqlitePath(databaseUrl)
  return resolve(path === undefined ? 'data' : dirname(path))
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
