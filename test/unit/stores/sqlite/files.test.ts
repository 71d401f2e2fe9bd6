import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { watchFiles } from '../../../../src/stores/sqlite/files.ts'
import { setUpFile } from '../../../../src/stores/sqlite/schema.ts'

function openWatched (t: Test, path: string) {
  const connection = new DatabaseSync(path, { readBigInts: true })
  setUpFile(connection, path)
  const files = watchFiles(connection, path)
  t.teardown(() => {
    connection.close()
    files.close()
  })
  return files
}

t.test('write() returns the result while the files stay in place', async t => {
  const files = openWatched(t, join(t.testdir(), 'plants.db'))
  t.equal(files.write(() => 'stored'), 'stored')
})

t.test('a file that moves between the first check and the commit fails the write', async t => {
  const folder = t.testdir()
  for (const suffix of ['', '-wal', '-shm']) {
    const path = join(folder, `moved${suffix}.db`)
    const files = openWatched(t, path)
    const move = () => renameSync(path + suffix, join(folder, `away${suffix}`))
    t.throws(() => files.write(move), { message: 'its file was removed or replaced' }, suffix)
  }
})
