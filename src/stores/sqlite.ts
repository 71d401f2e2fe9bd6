// SQLite in a worker thread, so that waiting for the disk blocks nobody. This side only passes messages.
import { Worker } from 'node:worker_threads'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import type { Engine } from './group-commit.ts'
import type { Call, Reply } from './sqlite-worker.ts'

/**
 * Opens, and where needed makes, a database file.
 * @throws Error that names the file when it cannot be opened or is no plant store
 */
export async function sqliteEngine (path: string): Promise<Engine> {
  let thread: Thread | undefined
  // A thread that died fails the calls it had. The next call starts another, which opens and recovers the file.
  const call = (message: Call) => (thread ??= startThread(path, () => { thread = undefined })).call(message)

  try {
    await call({ check: true })
  } catch (error) {
    await call({ close: true })
    throw new Error(`The database ${path} cannot be used: ${(error as Error).message}.`, { cause: error })
  }
  return {
    addMany: plants => call({ add: plants }) as Promise<Outcome[]>,
    page: after => call({ page: after }) as Promise<NewPlant[]>,
    count: () => call({ count: true }) as Promise<number>,
    check: () => call({ check: true }) as Promise<void>,
    close: () => call({ close: true }) as Promise<void>
  }
}

interface Thread { call: (message: Call) => Promise<unknown> }

function startThread (path: string, ended: () => void): Thread {
  const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData: path })
  // The worker answers in the order of its calls.
  const calls: Array<PromiseWithResolvers<unknown>> = []
  const settle = (reply: Reply) => {
    const call = calls.shift()
    if ('error' in reply) call?.reject(reply.error)
    else call?.resolve(reply.result)
  }
  let cause: unknown
  worker.on('message', settle)
  worker.on('error', error => { cause = error })
  worker.on('exit', () => {
    ended()
    while (calls.length > 0) settle({ error: new Error('The SQLite thread has ended.', { cause }) })
  })
  return {
    call (message) {
      const reply = Promise.withResolvers<unknown>()
      calls.push(reply)
      worker.postMessage(message)
      return reply.promise
    }
  }
}
