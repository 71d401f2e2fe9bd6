// The service that is fuzzed: the app on a real socket, with a real SQLite file that the fuzzer
// reads by itself.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { AppOptions } from '../../../src/service/app.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { openStore } from '../../../src/stores/open.ts'
import { buildTestApp, listen, token } from '../../fixtures/app.ts'

export interface Target {
  port: number
  /** The rows of the table, without columns that are NULL. */
  stored: () => Array<Record<string, unknown>>
  /** Removes all plants. */
  clear: () => void
  /** Bodies of the responses 200 since the last call. */
  takeAnswers: () => string[]
  /** Log lines of errors since the last call. */
  takeErrors: () => string[]
  close: () => Promise<void>
}

export async function startTarget (options: Partial<AppOptions>): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-fuzz-'))
  const path = join(folder, 'plants.db')
  const store = await openStore(`sqlite:${path}`, { maxQueue: 10_000 })
  let errors: string[] = []
  // At this level the log writes all that it may ever write.
  const log = createLog('trace', { write: line => { if (/"level":[5-9]/.test(line)) errors.push(line) } })
  const verifyToken = (given: string) => given === token ? { name: 'fuzzer' } : undefined
  const app = await buildTestApp({ store, verifyToken, log, ...options })
  let answers: string[] = []
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode === 200) answers.push(String(payload))
    done()
  })
  const { port } = await listen(app)
  const database = new DatabaseSync(path, { readBigInts: true, timeout: 5000 })
  database.exec('PRAGMA synchronous = OFF')
  const select = database.prepare('SELECT * FROM plants ORDER BY id')
  const remove = database.prepare('DELETE FROM plants')
  return {
    port,
    stored: () => select.all().map(row => {
      return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
    }),
    clear () { remove.run() },
    takeAnswers () {
      const taken = answers
      answers = []
      return taken
    },
    takeErrors () {
      const taken = errors
      errors = []
      return taken
    },
    async close () {
      await app.close()
      database.close()
      await store.close()
      await rm(folder, { recursive: true })
    }
  }
}
