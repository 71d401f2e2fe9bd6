import fs, { renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { FileUnsynced } from '../../../../src/stores/sqlite/checkpoint.ts'
import { watchFiles } from '../../../../src/stores/sqlite/file-watch.ts'
import { setUpFile } from '../../../../src/stores/sqlite/schema.ts'
import { replaceExports } from '../../../fixtures/builtins.ts'

function openWatched (
  t: Test, path: string, connection = new DatabaseSync(path, { readBigInts: true })
) {
  setUpFile(connection, path)
  const descriptors: number[] = []
  t.teardown(() => {
    connection.close()
    for (const descriptor of descriptors) fs.closeSync(descriptor)
  })
  return watchFiles(connection, path, descriptors).write
}

t.test('write() returns the result while the files stay in place', async t => {
  const write = openWatched(t, join(t.testdir(), 'plants.db'))
  t.equal(write(() => 'stored'), 'stored')
})

t.test('a file of another device is not the same, even with the same inode', async t => {
  const path = join(t.testdir(), 'plants.db')
  const write = openWatched(t, path)
  const { statSync } = fs
  const onOtherDevice = (file: string, options: fs.StatSyncOptions) => {
    return Object.assign(statSync(file, options) as object, { dev: 0n })
  }
  replaceExports(t, fs, { statSync: onOtherDevice as typeof statSync })
  t.throws(() => write(() => 'stored'), /^its file was removed or replaced; put it back, or restart the service with a backup$/)
})

t.test("under Node's permission model, which has no fsync, files are left to SQLite", async t => {
  const denied = Object.assign(new Error('fsync is disabled'), { code: 'ERR_ACCESS_DENIED' })
  replaceExports(t, fs, { fsyncSync: () => { throw denied } })
  const write = openWatched(t, join(t.testdir(), 'plants.db'))
  t.equal(write(() => 'stored'), 'stored')
})

t.test('the files are looked at again when the index changes meanwhile', async t => {
  const write = openWatched(t, join(t.testdir(), 'plants.db'))
  const { readSync } = fs
  let reads = 0
  let changedAt = 0
  const readChanged = (descriptor: number, words: Uint32Array, options: fs.ReadOptions) => {
    const bytes = readSync(descriptor, words, options)
    if (++reads === changedAt) words[4] = 1000
    return bytes
  }
  replaceExports(t, fs, { readSync: readChanged as typeof readSync })
  write(() => 'stored')
  const unchanged = reads
  reads = 0
  changedAt = 2
  t.equal(write(() => 'stored'), 'stored')
  t.equal(reads, unchanged + 2)
})

/** A file whose checkpoints can be made to fail, and writes that call for one each. */
function openFailing (t: Test) {
  const path = join(t.testdir(), 'plants.db')
  const connection = new DatabaseSync(path, { readBigInts: true })
  const write = openWatched(t, path, connection)
  const insert = connection.prepare('INSERT INTO plants (id, name) VALUES (?, ?)')
  let id = 0n
  const add = (plants = 150) => write(() => {
    for (let nth = 0; nth < plants; nth++) insert.run(++id, 'x'.repeat(30_000))
  })
  const exec = connection.exec.bind(connection)
  /** The results of the method are the checkpoints that have failed. */
  const failCheckpoints = (errcode: number) => {
    return t.capture(connection, 'exec', (sql: string) => {
      if (!sql.startsWith('PRAGMA wal_checkpoint')) return exec(sql)
      throw Object.assign(new Error('disk I/O error'), { errcode })
    })
  }
  return { path, add, failCheckpoints }
}

t.test('a failed sync in a checkpoint is an error for good; another failure is not', async t => {
  const { add, failCheckpoints } = openFailing(t)
  const failing = failCheckpoints(1034)
  t.throws(add, new FileUnsynced('its pages may not be on the disk (disk I/O error); ' +
    'end all programs that use it, and restart the machine, or unmount and mount the file system'))
  failing.restore()
  // SQLITE_IOERR_READ.
  const unread = failCheckpoints(266)
  t.throws(add, { name: 'Error', message: 'disk I/O error' })
  unread.restore()
  add()
})

t.test('while checkpoints cannot write, plants are stored in the log up to a limit', async t => {
  for (const errcode of [13, 778]) {
    const { path, add, failCheckpoints } = openFailing(t)
    const failing = failCheckpoints(errcode)
    const checkpoints = () => failing().filter(({ args: [sql] }) => sql.includes('checkpoint')).length
    add()
    add(1)
    t.equal(checkpoints(), 1, 'the next one comes later')
    add(15)
    t.equal(checkpoints(), 1, 'but before the log has 1000 pages more')
    t.throws(() => { for (let nth = 0; nth < 10; nth++) add() }, { message: 'disk I/O error' })
    const logBytes = () => statSync(`${path}-wal`).size
    t.ok(logBytes() > 40_000_000 && logBytes() < 50_000_000, `the log has ${logBytes()} bytes`)
    failing.restore()
    add()
    const before = logBytes()
    add()
    t.equal(logBytes(), before, 'the log is merged, and begins again')
  }
})

t.test('a file that moves between the first check and the commit fails the write', async t => {
  const folder = t.testdir()
  for (const suffix of ['', '-wal', '-shm']) {
    const path = join(folder, `moved${suffix}.db`)
    const write = openWatched(t, path)
    const move = () => renameSync(path + suffix, join(folder, `away${suffix}`))
    const message = suffix === ''
      ? 'its file was removed or replaced; put it back, or restart the service with a backup'
      : /^its log or index was removed .*; restart the service/
    t.throws(() => write(move), { message }, suffix)
  }
})
