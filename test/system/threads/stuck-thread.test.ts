// A worker that never ends stands for a thread that a call to the system holds.
// test/proofs/faults/threads.test.ts has a real one.
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import workerThreads, { type Worker } from 'node:worker_threads'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { openCredentials } from '../../../src/auth/verifier.ts'
import { killAtExit } from '../../../src/kill-at-exit.ts'
import { readConfig } from '../../../src/config/config.ts'
import { openEngine } from '../../../src/stores/open.ts'
import { createSharedMemory } from '../../../src/service/shared-memory.ts'
import { HttpThread } from '../../../src/service/threads/http-thread.ts'
import { ThreadPool } from '../../../src/service/threads/thread-pool.ts'
import { replaceExports } from '../../fixtures/builtins.ts'
import { testToken } from '../../fixtures/secrets.ts'

class EndlessWorker extends EventEmitter {
  postMessage (message: object): void {
    if ('start' in message) setImmediate(() => this.emit('message', { ready: true }))
    if ('listen' in message) this.emit('message', { listening: 'http://127.0.0.1:3000' })
  }

  terminate (): void {}
}

/** The first process of a container survives the kill. */
const killAndAbort = [{ args: ['exit', Function] }, { args: ['exit', process.abort] }]

async function startPool (t: Test, threads = 1, worker = EndlessWorker) {
  replaceExports(t, workerThreads, { Worker: worker as unknown as typeof Worker })
  const config = readConfig({ ACCESS_TOKENS: testToken })
  const log = pino({ level: 'silent' })
  const errors = new EventEmitter()
  const firstThread = new HttpThread()
  const pool = new ThreadPool({
    config,
    log,
    shared: createSharedMemory(threads),
    maxConnections: { limit: Infinity, reason: '' },
    engine: await openEngine('memory:', () => {}),
    credentials: await openCredentials({ ...config, ownTokenFile: '' }, log),
    output: { write: () => {} },
    fail: error => errors.emit('failed', error)
  }, firstThread)
  await pool.start()
  return { pool, firstThread, errors }
}

t.test('a thread that cannot be ended ends the service, which is killed at its exit', async t => {
  const onExit = t.capture(process, 'once', () => process)
  const { pool, firstThread, errors } = await startPool(t)
  await pool.listen(0)
  firstThread.end()
  const [error] = await once(errors, 'failed')
  t.match(error, {
    message: 'A call to the system holds a thread, which cannot be ended: the service ends.'
  })
  t.match(onExit(), killAndAbort)
})

t.test('while the service ends, it only prepares the kill', async t => {
  const onExit = t.capture(process, 'once', () => process)
  const { pool, firstThread, errors } = await startPool(t)
  errors.once('failed', t.fail)
  const closing = pool.close()
  firstThread.end()
  await closing
  await sleep(10)
  t.match(onExit(), killAndAbort)
})

/** Counts the threads that have been made, and those that are starting. */
function countStarts (onMade: (made: number) => void) {
  const counts = { made: 0, starting: 0, most: 0 }
  class CountedWorker extends EndlessWorker {
    constructor () {
      super()
      counts.most = Math.max(counts.most, ++counts.starting)
      this.on('message', message => { if ('ready' in message) counts.starting-- })
      onMade(++counts.made)
    }

    override terminate (): void {
      this.emit('exit')
    }
  }
  return { counts, CountedWorker }
}

t.test('threads start one after another, and none while the service ends', async t => {
  const fourth = Promise.withResolvers<void>()
  const { counts, CountedWorker } = countStarts(made => {
    if (made !== 4) return
    pool.close()
    fourth.resolve()
  })
  const { pool } = await startPool(t, 8, CountedWorker)
  await pool.listen(0)
  await fourth.promise
  await sleep(50)
  t.strictSame(counts, { made: 4, most: 1, starting: 0 })
})

t.test('several threads that cannot be ended leave one pair of listeners', async t => {
  const before = process.listenerCount('exit')
  t.teardown(() => {
    for (const listener of process.listeners('exit').slice(before)) process.off('exit', listener)
  })
  killAtExit()
  killAtExit()
  t.equal(process.listenerCount('exit'), before + 2)
})
