// Runs in a thread that serves HTTP. The main thread owns the log, the engine and the credentials.
import { type MessagePort, parentPort } from 'node:worker_threads'
import { followCredentials } from '../../auth/verifier.ts'
import { remoteEngine } from '../../stores/remote-engine.ts'
import { createLog } from '../../telemetry/log.ts'
import { oncePerMinute } from '../../telemetry/once-per-minute.ts'
import { openAppServer } from '../app-server.ts'
import { beatMs, type FromThread, type ThreadOptions, type ToThread } from './http-thread.ts'

const main = parentPort as MessagePort
const send = (message: FromThread, ports: MessagePort[] = []) => main.postMessage(message, ports)

const started = Promise.withResolvers<ThreadOptions>()
const opened = Promise.withResolvers<void>()
let renewal: PromiseWithResolvers<void> | undefined
let listening: Promise<string> | undefined
let isEnding = false
main.on('message', (message: ToThread) => {
  if ('start' in message) started.resolve(message.start)
  else follow(message)
})

const engine = remoteEngine(port => send({ connect: port }, [port]))
const options = await started.promise
const { config, thread, shared } = options
setInterval(() => Atomics.add(shared.beats, thread, 1), beatMs).unref()
const log = createLog(config.logLevel, { write: line => send({ line }) })
const credentials = await followCredentials(options.credentials, config.jwt, renewKeys)
const server = await openAppServer({
  ...options,
  credentials,
  // The thread ends with its connection to the engine, which other threads still use.
  engine: { ...engine, close: async () => {} },
  log
})
opened.resolve()
send({ ready: true })

async function follow (message: Exclude<ToThread, { start: unknown }>): Promise<void> {
  await opened.promise
  if ('listen' in message) return listen(message.listen)
  if ('change' in message) return credentials.apply(message.change)
  if ('leave' in message) return end(server.leave)
  if ('close' in message) return end(server.close)
  renewal?.resolve()
  renewal = undefined
}

/** One call to the main thread serves all callers. */
function renewKeys (): Promise<void> {
  if (renewal === undefined) send({ renewKeys: true })
  renewal ??= Promise.withResolvers<void>()
  return renewal.promise
}

async function listen (port: number): Promise<void> {
  listening = server.listen(port)
  const address = await listening
  // From now on an uncaught error does not end the requests of others: another thread starts first.
  process.once('uncaughtException', error => {
    log.fatal(error, 'uncaught error in a thread')
    send({ failed: 'it has thrown an error that was not caught' })
    process.on('uncaughtException', oncePerMinute(count => {
      log.fatal(`Further uncaught errors in this thread: ${count}.`)
    }).add)
  })
  send({ listening: address })
}

/** Closes what this thread has, and ends it. */
async function end (close: () => Promise<void>): Promise<void> {
  if (isEnding) return
  isEnding = true
  try {
    await listening
    await close()
  } finally {
    process.exit()
  }
}
