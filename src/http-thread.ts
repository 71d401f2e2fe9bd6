// A thread that serves HTTP. The main thread owns the log and the engine; threads.ts has the messages.
import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { createLog } from './log.ts'
import { openService } from './service.ts'
import type { Service } from './service.ts'
import { remoteEngine } from './stores/remote.ts'
import type { FromThread, ThreadData, ToThread } from './threads.ts'
import { keepTicksFast } from './ticks.ts'

const main = parentPort as MessagePort
const send = (message: FromThread, transfer: MessagePort[] = []) => main.postMessage(message, transfer)
const data: ThreadData = workerData

keepTicksFast()
const engine = remoteEngine(port => send({ connect: port }, [port]))
const service: Service = await openService({
  ...data,
  // The thread ends with its connection to the engine, which other threads still use.
  engine: { ...engine, close: async () => {} },
  log: createLog(data.config.logLevel, { write: line => send({ line }) })
})

let closing: Promise<never> | undefined
const close = () => {
  closing ??= service.close().then(() => process.exit())
  return closing
}

main.on('message', async (message: ToThread) => {
  if ('close' in message) return close()
  const address = await service.listen(message.listen)
  // From now on a failure does not end the requests of others: they are finished, while another thread starts.
  process.once('uncaughtException', error => {
    send({ failed: String(error.stack) })
    close()
  })
  send({ listening: address })
})
send({ ready: { ownTokenFile: service.ownTokenFile } })
