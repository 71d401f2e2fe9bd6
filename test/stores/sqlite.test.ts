import { existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import type { Test } from 'tap'
import type { PlantStore } from '../../src/plants/plant-store.ts'
import { openStore } from '../../src/stores/open.ts'
import { all, plantStoreSuite } from '../fixtures/plant-store-suite.ts'

async function open (t: Test, path = join(t.testdir(), 'plants.db')): Promise<PlantStore> {
  const store = await openStore(`sqlite:${path}`, { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
}

plantStoreSuite(t, open)

t.test('plants are there after a close, in a directory that was made for them', async t => {
  const path = join(t.testdir(), 'some', 'new', 'directory', 'plants.db')
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  await store.close()
  t.equal(existsSync(`${path}-wal`), false, 'the log is folded into the file')
  const again = await open(t, path)
  t.strictSame(await all(again), [{ id: 1n, name: 'fern' }])
  t.equal(await again.add({ id: 1n, name: 'ivy' }), 'conflict')
})

t.test('a store that begins while others make or write the file opens it', async t => {
  const path = join(t.testdir(), 'plants.db')
  const writers = await Promise.all(Array.from({ length: 3 }, () => open(t, path)))
  const ending = new AbortController()
  const outcomes = new Set<string>()
  let id = 0n
  const writing = writers.map(async store => {
    // Each takes pages of its own.
    while (!ending.signal.aborted) outcomes.add(await store.add({ id: id++, name: 'x'.repeat(20_000) }))
  })
  for (let round = 0; round < 20; round++) await (await openStore(`sqlite:${path}`, { maxQueue: 1 })).close()
  ending.abort()
  await Promise.all(writing)
  t.strictSame(outcomes, new Set(['added']))
  t.equal(await writers[0]?.count(), Number(id))
})

t.test('an empty file that becomes a database in a moment is one', async t => {
  const folder = t.testdir({ 'plants.db': '' })
  await (await open(t, join(folder, 'other.db'))).close()
  const opening = open(t, join(folder, 'plants.db'))
  setTimeout(() => renameSync(join(folder, 'other.db'), join(folder, 'plants.db')), 400)
  t.equal(await (await opening).count(), 0)
})

t.test('a directory that cannot be made is told, one that somebody else makes meanwhile is used', async t => {
  const folder = t.testdir({ file: '', dangling: t.fixture('symlink', 'nowhere') })
  await t.rejects(openStore(`sqlite:${join(folder, 'file', 'data', 'plants.db')}`, { maxQueue: 1 }), /cannot be used: ENOTDIR: not a directory, mkdir/)
  // It is there, and yet it is not.
  await t.rejects(openStore(`sqlite:${join(folder, 'dangling', 'plants.db')}`, { maxQueue: 1 }), /cannot be used: unable to open database file/)
  if (existsSync('/proc/self')) await t.rejects(openStore('sqlite:/proc/nowhere/plants.db', { maxQueue: 1 }), /cannot be used: ENOENT: .*mkdir '\/proc\/nowhere'/)
  const path = join(folder, 'new', 'plants.db')
  const stores = await Promise.all([open(t, path), open(t, path), open(t, path)])
  t.strictSame(await Promise.all(stores.map(store => store.add({ id: 1n, name: 'fern' }))).then(outcomes => outcomes.sort()), ['added', 'unchanged', 'unchanged'])
})

t.test('the file is STRICT, in WAL mode and marked as ours', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  const database = new DatabaseSync(path, { readOnly: true })
  t.teardown(() => database.close())
  const read = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0]
  t.equal(read('PRAGMA journal_mode'), 'wal')
  t.equal(read('PRAGMA user_version'), 1)
  t.equal(read('PRAGMA application_id'), 0x506c6e74)
  t.match(read("SELECT sql FROM sqlite_schema WHERE name = 'plants'"), /STRICT$/)
  await store.close()
})

t.test('two stores on one file wait for each other and agree', async t => {
  const path = join(t.testdir(), 'plants.db')
  const [one, two] = [await open(t, path), await open(t, path)]
  const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? one : two).add({ id: BigInt(index >> 1), name: `from ${index % 2}` })))
  t.equal(outcomes.filter(outcome => outcome === 'added').length, 100)
  t.equal(outcomes.filter(outcome => outcome === 'conflict').length, 100)
  t.strictSame(await all(one), await all(two))
})

t.test('a file that is no plant store is refused and left as it is', async t => {
  const folder = t.testdir({ 'text.db': 'this is a text. '.repeat(50) })
  const text = join(folder, 'text.db')
  await t.rejects(open(t, text), { message: /^The database .*text\.db cannot be used: file is not a database\.$/ })
  t.match(readFileSync(text, 'utf8'), /^this is a text/)

  const other = join(folder, 'other.db')
  const database = new DatabaseSync(other)
  database.exec('CREATE TABLE animals (id INTEGER)')
  database.close()
  await t.rejects(open(t, other), { message: /cannot be used: it is the database of another program\.$/ })

  const newer = join(folder, 'newer.db')
  await (await open(t, newer)).close()
  const upgraded = new DatabaseSync(newer)
  upgraded.exec('PRAGMA user_version = 2')
  upgraded.close()
  await t.rejects(open(t, newer), { message: /written by a newer version of this program \(schema 2, known 1\)\.$/ })
})

t.test('a file that was cut or written over is refused and left as it is, or all its plants are there', async t => {
  const folder = t.testdir()
  const whole = join(folder, 'whole.db')
  const store = await open(t, whole)
  for (let begin = 0; begin < 20_000; begin += 5000) await Promise.all(Array.from({ length: 5000 }, (_, index) => index + begin).map(index => store.add({ id: BigInt(index), name: `plant ${index}`, tag: 'x'.repeat(index % 50) })))
  const plants = await all(store)
  await store.close()
  const bytes = readFileSync(whole)
  const seed = Date.now() % 1e9
  t.comment(`seed ${seed}`)
  const random = (below: number, index: number) => Math.floor(Math.abs(Math.sin(seed + index) * 1e6) % 1 * below)
  const cuts = [0, 1, 99, 100, 511, 512, 4095, 4096, 8192, bytes.length >> 1, bytes.length - 4096, bytes.length - 1, ...Array.from({ length: 10 }, (_, index) => random(bytes.length, index))]
  const damaged = [
    ...cuts.map(length => bytes.subarray(0, length)),
    // A page, in a file of many, that holds something else.
    ...Array.from({ length: 10 }, (_, index) => Buffer.from(bytes).fill('garbage ', random(bytes.length >> 12, index) << 12, (random(bytes.length >> 12, index) + 1) << 12)),
    Buffer.from(bytes).fill(0),
    Buffer.from(bytes).fill(0, 0, 100)
  ]
  let refused = 0
  for (const [index, content] of damaged.entries()) {
    const path = join(folder, `damaged-${index}.db`)
    writeFileSync(path, content)
    const opened = await openStore(`sqlite:${path}`, { maxQueue: 1 }).catch((error: Error) => error)
    if (opened instanceof Error) {
      refused++
      t.match(opened.message, /^The database .*damaged-\d+\.db cannot be used: .+\.$/)
      t.ok(readFileSync(path).equals(content), 'it is as it was')
    } else {
      t.strictSame(await all(opened), plants, 'all plants are there')
      await opened.close()
    }
  }
  t.ok(refused >= damaged.length - 5, `${refused} of ${damaged.length} are refused`)
})

t.test('a database that cannot be durable is refused', async t => {
  await t.rejects(openStore('sqlite::memory:', { maxQueue: 1 }), { message: 'The database :memory: cannot be used: it cannot be opened with durable commits.' })
})

t.test('a place where no file can be made is refused', async t => {
  const path = join(t.testdir({ file: '' }), 'file', 'plants.db')
  await t.rejects(open(t, path), { message: /cannot be used: / })
})

t.test('a write that fails is 503 to its caller, and the file is opened again for the next', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  const vandal = new DatabaseSync(path)
  vandal.exec('ALTER TABLE plants RENAME TO hidden')
  await t.rejects(store.add({ id: 2n, name: 'ivy' }), { name: 'StoreUnavailable', message: 'The plant could not be stored. Sending it again is safe.', cause: /no such table/ })
  await t.rejects(store.check(), 'writes cannot be promised')
  vandal.exec('ALTER TABLE hidden RENAME TO plants')
  vandal.close()
  t.equal(await store.add({ id: 2n, name: 'ivy' }), 'added')
  t.strictSame(await all(store), [{ id: 1n, name: 'fern' }, { id: 2n, name: 'ivy' }])
})

t.test('a file that is removed or replaced under a running store takes no more plants', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const store = await open(t, path)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  const hidden = join(folder, 'hidden.db')
  for (const end of ['', '-wal', '-shm']) renameSync(path + end, hidden + end)
  await t.rejects(store.add({ id: 2n, name: 'ivy' }), { name: 'StoreUnavailable', cause: /its file was removed or replaced/ })
  await t.rejects(store.add({ id: 2n, name: 'ivy' }), { name: 'StoreUnavailable', cause: /its file is gone/ })
  t.equal(existsSync(path), false, 'no empty file takes its place')
  for (const end of ['', '-wal', '-shm']) if (existsSync(hidden + end)) renameSync(hidden + end, path + end)
  t.equal(await store.add({ id: 1n, name: 'ivy' }), 'conflict', 'when it is back, so is the store')
})

t.test('another file in its place, one that is cut and a log that is removed are noticed, by plants and by checks', async t => {
  const folder = t.testdir()
  const other = await open(t, join(folder, 'other.db'))
  await other.close()
  const changes: Array<[string, (path: string) => void]> = [
    ['replaced', path => { for (const end of ['-wal', '-shm']) rmSync(path + end); renameSync(join(folder, 'other.db'), path) }],
    ['cut', path => truncateSync(path, 0)],
    ['without its log', path => rmSync(`${path}-wal`)]
  ]
  for (const [name, change] of changes) {
    const path = join(folder, `${name}.db`)
    const store = await open(t, path)
    t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
    change(path)
    await t.rejects(store.check(), name)
    const later = await Promise.allSettled([store.add({ id: 2n, name: 'ivy' }), store.add({ id: 3n, name: 'moss' })])
    if (name === 'replaced') {
      t.strictSame(later.map(({ status }) => status), ['rejected', 'rejected'], 'the other file is not taken for it')
      await t.rejects(store.check())
    } else {
      // Closing it, SQLite wrote what it knew into the file, which is whole again.
      t.strictSame(await all(store), [{ id: 1n, name: 'fern' }, { id: 2n, name: 'ivy' }, { id: 3n, name: 'moss' }], name)
      await store.close()
      t.equal((await all(await open(t, path))).length, 3)
    }
  }
})

t.test('a thread that dies fails what it was doing, and the next plant starts another', async t => {
  const threads: Worker[] = []
  class Known extends Worker {
    constructor (...args: ConstructorParameters<typeof Worker>) {
      super(...args)
      threads.push(this)
    }
  }
  const { sqliteEngine } = await t.mockImport<typeof import('../../src/stores/sqlite.ts')>('../../src/stores/sqlite.ts', { 'node:worker_threads': { Worker: Known } })
  const engine = await sqliteEngine(join(t.testdir(), 'plants.db'))
  t.strictSame(await engine.addMany([{ id: 1n, name: 'fern' }]), ['added'])
  const lost = engine.addMany(Array.from({ length: 50_000 }, (_, index) => ({ id: BigInt(index + 2), name: 'x' })))
  threads[0]?.terminate()
  await t.rejects(lost, { message: 'The SQLite worker has exited.' })
  t.strictSame(await engine.addMany([{ id: 1n, name: 'fern' }, { id: 2n, name: 'x' }]), ['unchanged', 'added'], 'the batch was all or nothing')
  t.equal(threads.length, 2)
  await engine.close()

  // An error that the thread did not catch, as when memory runs out.
  const again = await sqliteEngine(join(t.testdir(), 'again.db'))
  threads[2]?.emit('error', new Error('out of memory'))
  const failed = again.check().catch(error => error)
  await threads[2]?.terminate()
  t.match(await failed, { cause: { message: 'out of memory' } })
  await again.close()
})

t.test('a truncated file is refused or recovered, never overwritten', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  await Promise.all(Array.from({ length: 1000 }, (_, index) => store.add({ id: BigInt(index), name: 'x'.repeat(100) })))
  await store.close()
  const whole = readFileSync(path)
  writeFileSync(path, whole.subarray(0, whole.length / 2))
  await t.rejects(openStore(`sqlite:${path}`, { maxQueue: 1 }).then(all), /malformed|disk image/)
})
