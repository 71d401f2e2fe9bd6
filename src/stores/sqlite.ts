// Runs SQLite in a worker thread, so that disk waits do not block the event loop. This file sends the messages.
import { Worker } from 'node:worker_threads'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import type { Engine } from './group-commit.ts'
import type { Call, Reply } from './sqlite-worker.ts'

/** Milliseconds until startup says that it waits. */
const silenceMs = 500

/**
 * Opens a database file; creates it if missing.
 * @param onWarning called with the reason when the file lets startup wait
 * @throws Error that names the file when it cannot be opened or is no plant store
 */
export async function sqliteEngine (path: string, onWarning: (sentence: string) => void): Promise<Engine> {
  let worker: SqliteWorker | undefined
  // A dead worker fails its pending calls; the next call starts another worker.
  const call = (message: Call) => (worker ??= startWorker(path, () => { worker = undefined })).call(message)

  const reason = `Checking the database ${path}, which is large or locked by another process.`
  const timer = setTimeout(() => onWarning(reason), silenceMs)
  try {
    await call({ check: true })
  } catch (error) {
    await call({ close: true })
    throw new Error(`The database ${path} cannot be used: ${(error as Error).message}.`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
  return {
    addMany: plants => call({ add: plants }) as Promise<Outcome[]>,
    page: (from, limit) => call({ page: { from, limit } }) as Promise<NewPlant[]>,
    count: () => call({ count: true }) as Promise<number>,
    check: () => call({ check: true }) as Promise<void>,
    close: () => call({ close: true }) as Promise<void>
  }
}

interface SqliteWorker { call: (message: Call) => Promise<unknown> }

function startWorker (path: string, onExit: () => void): SqliteWorker {
  const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData: path })
  // The worker replies in the order of the calls.
  const pending: Array<PromiseWithResolvers<unknown>> = []
  const settle = (reply: Reply) => {
    const call = pending.shift()
    if ('error' in reply) call?.reject(reply.error)
    else call?.resolve(reply.result)
  }
  let cause: unknown
  worker.on('message', settle)
  worker.on('error', error => { cause = error })
  worker.on('exit', () => {
    onExit()
    while (pending.length > 0) settle({ error: new Error('The SQLite worker has exited.', { cause }) })
  })
  return {
    call (message) {
      const reply = Promise.withResolvers<unknown>()
      pending.push(reply)
      worker.postMessage(message)
      return reply.promise
    }
  }
}
