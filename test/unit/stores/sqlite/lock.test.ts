// Each test waits for the busy timeout of SQLite, five seconds or twice as long.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { openStore } from '../../../../src/stores/open.ts'
import { inParallel } from '../../../fixtures/parallel.ts'

const test = inParallel(t, 2)

/** An open store and another connection to its file. */
async function openTwice (t: Test) {
  const path = join(t.testdir(), 'plants.db')
  const store = await openStore(`sqlite:${path}`, { maxQueue: 1 })
  t.teardown(() => store.close())
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  return { path, store, other }
}

test('startup says that a locked file lets it wait, and fails when the lock stays', async t => {
  const { path, store, other } = await openTwice(t)
  await store.close()
  other.exec('BEGIN IMMEDIATE')
  const warnings: string[] = []
  const opening = openStore(
    `sqlite:${path}`, { maxQueue: 1, onWarning: warning => warnings.push(warning) }
  )
  await t.rejects(opening, {
    message: `The database ${path} cannot be used: another process has locked the file; ` +
      'end that process.'
  })
  t.strictSame(
    warnings, [`Checking the database ${path}, which is large, locked or being created.`]
  )
})

test('a plant is refused while another process locks the file, and stored afterwards', async t => {
  const { path, store, other } = await openTwice(t)
  other.exec('BEGIN IMMEDIATE')
  const plant = { id: 1n, name: 'Boston fern' }
  const message = `the database ${path} cannot be used: another process has locked the file; ` +
    'end that process'
  await t.rejects(store.add(plant), { cause: { message } })
  other.exec('ROLLBACK')
  t.equal(await store.add(plant), 'added')
})
