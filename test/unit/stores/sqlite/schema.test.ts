import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { setUpFile } from '../../../../src/stores/sqlite/schema.ts'

function openFile (t: Test, path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { readBigInts: true })
  t.teardown(() => connection.close())
  setUpFile(connection, path)
  return connection
}

t.test('each commit and each checkpoint waits for its sync', async t => {
  const connection = openFile(t, join(t.testdir(), 'plants.db'))
  // See "PRAGMA synchronous" of SQLite: in WAL mode, 1 (NORMAL) loses commits in a power cut.
  const expected = { synchronous: 2n, fullfsync: 1n, checkpoint_fullfsync: 1n }
  for (const [pragma, value] of Object.entries(expected)) {
    t.strictSame({ ...connection.prepare(`PRAGMA ${pragma}`).get() }, { [pragma]: value })
  }
})

t.test('a start merges the log that a crash has left into the file', async t => {
  const folder = t.testdir()
  const [path, crashed] = [join(folder, 'plants.db'), join(folder, 'crashed.db')]
  openFile(t, path).exec("INSERT INTO plants (id, name) VALUES (1, 'fern')")
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, crashed + suffix)
  const connection = openFile(t, crashed)
  const { log, checkpointed } = { ...connection.prepare('PRAGMA wal_checkpoint(NOOP)').get() }
  t.equal(checkpointed, log)
  t.match(connection.prepare('SELECT * FROM plants').get(), { id: 1n, name: 'fern' })
})

t.test('a migration that a full disk stops is not called wrong', t => {
  const connection = new DatabaseSync(join(t.testdir(), 'plants.db'), { readBigInts: true })
  t.teardown(() => connection.close())
  connection.exec('PRAGMA max_page_count = 1')
  const problem = 'migration 1 of src/stores/sqlite/schema.ts failed (database or disk is full)'
  t.throws(() => setUpFile(connection, join(t.testdirName, 'plants.db')), { message: problem, errcode: 13 })
  t.end()
})

t.test('a file that an interrupted backup has left is refused, and not taken for a new one', async t => {
  const folder = t.testdir()
  const [path, interrupted] = [join(folder, 'backup.db'), join(folder, 'plants.db')]
  const backup = new DatabaseSync(path)
  t.teardown(() => backup.close())
  // Pages that do not fit into the cache reach the file before the commit.
  backup.exec(`PRAGMA cache_size = 1; BEGIN; CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
    INSERT INTO plants (name) SELECT printf('%1000c', value) FROM json_each('[${'1,'.repeat(99)}1]')`)
  for (const suffix of ['', '-journal']) copyFileSync(path + suffix, interrupted + suffix)
  const message = 'it was not written to its end, as by an interrupted backup; ' +
    'restore another one, or remove it to start with an empty one'
  t.throws(() => openFile(t, interrupted), { message })
})

t.test('the first checkpoint of a new file does not wait for itself when another process writes', async t => {
  const path = join(t.testdir(), 'plants.db')
  const connection = new DatabaseSync(path, { readBigInts: true, timeout: 500 })
  t.teardown(() => connection.close())
  const hasBegun = new Int32Array(new SharedArrayBuffer(4))
  const write = () => new Worker(`
    const { DatabaseSync } = require('node:sqlite')
    const { path, hasBegun } = require('node:worker_threads').workerData
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE; PRAGMA user_version = 0')
    Atomics.store(hasBegun, 0, 1)
    Atomics.notify(hasBegun, 0)
    // In this time the checkpoint begins.
    Atomics.wait(hasBegun, 0, 1, 100)
    other.exec('COMMIT')
  `, { eval: true, workerData: { path, hasBegun } })
  const prepare = connection.prepare.bind(connection)
  const states: unknown[] = []
  t.capture(connection, 'prepare', (sql: string) => {
    const statement = prepare(sql)
    if (sql !== 'PRAGMA wal_checkpoint(TRUNCATE)') return statement
    return {
      get () {
        write()
        Atomics.wait(hasBegun, 0, 0, 10_000)
        const state = statement.get()
        states.push(state)
        return state
      }
    }
  })
  setUpFile(connection, path)
  t.match(states, [{ busy: 0n }])
})
