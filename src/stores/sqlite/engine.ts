// Runs SQLite in a worker thread, so that disk waits do not block the event loop.
import { extname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type MessagePort, Worker } from 'node:worker_threads'
import { killAtExit } from '../../kill-at-exit.ts'
import type { Engine } from '../engine.ts'
import { remoteEngine } from '../remote-engine.ts'

type WorkerMessage = 'ready' | 'left' | { warning: string }

/**
 * Milliseconds with the file until startup says that it waits: longer than the worker waits for a
 * file that is too small, before it refuses it.
 */
const silenceMs = 1000
/** Milliseconds in which a message of the worker arrives. */
const messageMs = 100

/**
 * Opens a database file; creates it if missing.
 * @param onWarning gets a sentence when the file lets startup wait, and when the worker has failed
 * @throws Error that names the file when it cannot be opened or is no plant store
 */
export async function sqliteEngine (
  path: string,
  onWarning: (sentence: string) => void
): Promise<Engine> {
  let worker: Worker | undefined
  let keeper: DatabaseSync | undefined
  let timer: NodeJS.Timeout | undefined
  const reason = `Checking the database ${path}, which is large, locked or being created.`
  // The start of a thread may take longer on a slow machine.
  let onReady = () => {
    timer = setTimeout(() => onWarning(reason), silenceMs)
  }
  // A dead worker fails the pending calls; the next connection starts another worker.
  const start = () => {
    const started = startWorker(path, onWarning)
    started.on('message', (message: WorkerMessage) => {
      if (message === 'ready') return onReady()
      if (message !== 'left') return onWarning(message.warning)
      started.unref()
      // Only a killed process leaves the log.
      killAtExit()
      keeper = keepLog(path)
    })
    started.once('exit', () => { if (worker === started) worker = undefined })
    return started
  }
  const connect = (port: MessagePort) => {
    // Another thread would begin the log again.
    if (worker === undefined && keeper !== undefined) return port.close()
    worker ??= start()
    worker.postMessage(port, [port])
  }
  // The connection usually ends before the event of the worker's exit.
  const engine = remoteEngine(connect, () => { worker = undefined })

  try {
    await engine.check()
  } catch (error) {
    await engine.close()
    const { message } = ((error as Error).cause ?? error) as Error
    throw new Error(`The database ${path} cannot be used: ${message}.`, { cause: error })
  } finally {
    onReady = () => {}
    clearTimeout(timer)
  }
  const close = async () => {
    const exited = new Promise(resolve => worker?.once('exit', resolve))
    try {
      await engine.close()
    } finally {
      // Warnings come by another port, as does the message of a failed sync: it prevents that the
      // exit closes files. That thread does not end.
      await Promise.race([exited, sleep(messageMs)])
    }
  }
  return { ...engine, close, connect }
}

function startWorker (path: string, onWarning: (sentence: string) => void): Worker {
  const file = `./worker${extname(import.meta.filename)}`
  // To close the descriptors of a failed thread would end the locks of this process (POSIX).
  const options = { workerData: path, trackUnmanagedFds: false }
  const worker = new Worker(new URL(file, import.meta.url), options)
  worker.on('error', error => onWarning(`The thread of the database ${path} has failed: ${error}.`))
  return worker
}

/**
 * Returns a connection to keep open: SQLite removes the log with the last one, also when the thread
 * fails that has the others.
 */
function keepLog (path: string): DatabaseSync {
  const connection = new DatabaseSync(path)
  try {
    // Locks the file, also when the log of another process does not let it read.
    connection.exec('SELECT 1 FROM sqlite_schema')
  } catch {}
  return connection
}
