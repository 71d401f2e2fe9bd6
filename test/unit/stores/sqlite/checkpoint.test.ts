import { once } from 'node:events'
import { closeSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { checkLogAfter, mergeAtEnd, syncFile } from '../../../../src/stores/sqlite/checkpoint.ts'
import { setUpFile } from '../../../../src/stores/sqlite/schema.ts'

const unsynced = { message: /^its pages may not be on the disk \(disk I\/O error\); end all programs/ }
const failure = (errcode: number) => Object.assign(new Error('disk I/O error'), { errcode })

t.test('before the end of a connection a failed sync is an error, and no other failure is', t => {
  const connection = new DatabaseSync(join(t.testdir(), 'plants.db'), { readBigInts: true })
  t.teardown(() => connection.close())
  for (const errcode of [1034, 13]) {
    const failing = t.capture(connection, 'prepare', () => {
      return { get: () => { throw failure(errcode) } }
    })
    if (errcode === 1034) t.throws(() => mergeAtEnd(connection), unsynced)
    else t.equal(mergeAtEnd(connection), false)
    failing.restore()
  }
  t.end()
})

t.test('before the end of a connection its transaction is rolled back, and the log is merged', t => {
  const path = join(t.testdir(), 'plants.db')
  const connection = new DatabaseSync(path, { readBigInts: true })
  t.teardown(() => connection.close())
  setUpFile(connection, path)
  connection.exec("INSERT INTO plants (id, name) VALUES (1, 'fern')")
  t.ok(statSync(`${path}-wal`).size > 0)
  connection.exec("BEGIN; INSERT INTO plants (id, name) VALUES (2, 'ivy')")
  mergeAtEnd(connection)
  t.equal(connection.isTransaction, false)
  const state = connection.prepare('PRAGMA wal_checkpoint(NOOP)').get() as Record<string, bigint>
  t.equal(state.checkpointed, state.log)
  t.end()
})

t.test('before the end of a connection the checkpoint of another process is waited for', async t => {
  const path = join(t.testdir(), 'plants.db')
  const connection = new DatabaseSync(path, { readBigInts: true })
  t.teardown(() => connection.close())
  setUpFile(connection, path)
  const reader = new DatabaseSync(path)
  t.teardown(() => reader.close())
  reader.exec('BEGIN; SELECT count(*) FROM plants')
  // It merges the whole log, and then waits for the reader.
  const thread = new Worker(`
    const { DatabaseSync } = require('node:sqlite')
    const path = require('node:worker_threads').workerData
    new DatabaseSync(path, { timeout: 500 }).exec('PRAGMA wal_checkpoint(TRUNCATE)')
  `, { eval: true, workerData: path })
  const ended = once(thread, 'exit')
  const passive = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  for (let look = 0; passive.get()?.busy === 0n && look < 1000; look++) await sleep(2)
  t.equal(passive.get()?.busy, 1n)
  t.equal(mergeAtEnd(connection), true)
  await ended
})

t.test('a failed sync in the checkpoint of a start is an error', t => {
  const path = join(t.testdir(), 'plants.db')
  const connection = new DatabaseSync(path, { readBigInts: true })
  t.teardown(() => connection.close())
  const prepare = connection.prepare.bind(connection)
  t.capture(connection, 'prepare', (sql: string) => {
    if (!sql.startsWith('PRAGMA wal_checkpoint')) return prepare(sql)
    return { get: () => { throw failure(1034) } }
  })
  t.throws(() => setUpFile(connection, path), unsynced)
  t.end()
})

t.test('a log that is left after a failed sync of it is never recovered in this boot', t => {
  t.throws(() => checkLogAfter(failure(1034), () => 1n), unsynced)
  t.doesNotThrow(() => checkLogAfter(failure(1034), () => 0n), 'merged')
  t.doesNotThrow(() => checkLogAfter(failure(13), () => 1n), 'another failure')
  t.end()
})

t.test('what has no sync in its file system is no failed one', t => {
  const descriptor = openSync('/dev/null', 'r')
  t.teardown(() => closeSync(descriptor))
  t.doesNotThrow(() => syncFile(descriptor))
  t.end()
})
