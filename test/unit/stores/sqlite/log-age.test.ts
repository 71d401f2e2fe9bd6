import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { readCounters } from '../../../../src/stores/sqlite/log-age.ts'

/** Bytes of a page in the log, with its header. */
const frameSize = 24 + 4096

t.test('only commits count whose pages are whole, and only of the present log', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const log = join(folder, 'copy-wal')
  const counters = [1, 2].map(() => {
    const connection = new DatabaseSync(path)
    t.teardown(() => connection.close())
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA user_version = 1')
    copyFileSync(`${path}-wal`, log)
    return readCounters(log)
  })
  t.strictSame(counters, [{ first: 2, last: 2 }, { first: 2, last: 3 }])
  const bytes = readFileSync(log)
  t.equal(bytes.length, 32 + 2 * frameSize)
  const readChanged = (position: number) => {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(position) ^ 1, position)
    writeFileSync(log, changed)
    return readCounters(log)
  }
  const second = 32 + frameSize
  const first = { first: 2, last: 2 }
  t.strictSame(readChanged(second + 24 + 1000), first, 'a torn page')
  t.strictSame(readChanged(second + 8), first, 'a page of an earlier log')
  t.equal(readChanged(16), undefined, 'a torn header')
  writeFileSync(log, bytes.subarray(0, 32 + frameSize - 1))
  t.equal(readCounters(log), undefined, 'half a page')
  const connection = new DatabaseSync(path)
  t.teardown(() => connection.close())
  connection.exec('CREATE TABLE plants (id INTEGER)')
  writeFileSync(log, readFileSync(`${path}-wal`).subarray(0, -frameSize))
  t.strictSame(readCounters(log), { first: 2, last: 3 }, 'a transaction without its last page')
  copyFileSync(`${path}-wal`, log)
  t.strictSame(readCounters(log), { first: 2, last: 4 })
  writeFileSync(log, '')
  t.equal(readCounters(log), undefined)
})
