// SQLite in a worker thread, so that waiting for the disk blocks nobody. This side only passes messages.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Engine } from './group-commit.ts'
import type { Call, Reply } from './sqlite-worker.ts'

/**
 * Opens, and where needed makes, a database file.
 * @throws Error that names the file when it cannot be opened or is no plant store
 */
export async function sqliteEngine (path: string): Promise<Engine> {
  const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData: path })
  // The worker answers in the order of its calls.
  const calls: Array<PromiseWithResolvers<unknown>> = []
  let gone: Error | undefined

  const ended = once(worker, 'exit')
  const call = <Result> (message: Call): Promise<Result> => {
    const reply = Promise.withResolvers<unknown>()
    if (gone !== undefined) reply.reject(gone)
    else {
      calls.push(reply)
      worker.postMessage(message)
    }
    return reply.promise as Promise<Result>
  }
  worker.on('message', (reply: Reply) => {
    if ('error' in reply) calls.shift()?.reject(reply.error)
    else calls.shift()?.resolve(reply.result)
  })
  const lose = (error: Error) => {
    gone ??= error
    for (const { reject } of calls.splice(0)) reject(gone)
  }
  worker.on('error', lose)
  worker.on('exit', () => lose(new Error('The SQLite worker has ended.')))

  try {
    await call({ check: true })
  } catch (error) {
    await worker.terminate()
    throw new Error(`The database ${path} cannot be used: ${error instanceof Error ? error.message : error}.`, { cause: error })
  }
  return {
    addMany: plants => call({ add: plants }),
    page: after => call({ page: after }),
    check: () => call({ check: true }),
    close: async () => {
      await call({ close: true })
      await ended
    }
  }
}
