import { execFileSync } from 'node:child_process'
import {
  chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, readdirSync, readlinkSync,
  renameSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync, watch, writeFileSync
} from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { mock } from 'node:test'
import workerThreads, { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import type { PlantStore } from '../../../../src/plants/plant-store.ts'
import type { Engine } from '../../../../src/stores/engine.ts'
import { openEngine, openStore } from '../../../../src/stores/open.ts'
import { createConnector, remoteEngine } from '../../../../src/stores/remote-engine.ts'
import { sqliteEngine } from '../../../../src/stores/sqlite/engine.ts'
import { version } from '../../../../src/stores/sqlite/schema.ts'
import { replaceExports } from '../../../fixtures/builtins.ts'
import { all, plantStoreSuites } from '../../../fixtures/plant-store-suite.ts'
import { sqlite as version1 } from '../../../fixtures/version-1.ts'

async function open (t: Test, path = join(t.testdir(), 'plants.db')): Promise<PlantStore> {
  const store = await openStore(`sqlite:${path}`, { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
}

/** The cause in the log while the service runs. */
const causeOf = (path: string, problem: string) => `the database ${path} cannot be used: ${problem}`
const undo = 'undo the change of its table plants, of a migration or of a statement in src/stores/sqlite/worker.ts, or restore the file from a backup'

plantStoreSuites(t, t => `sqlite:${join(t.testdir(), 'plants.db')}`)

t.test('the store creates missing directories and keeps its plants after a close', async t => {
  const path = join(t.testdir(), 'some', 'new', 'directory', 'plants.db')
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  await store.close()
  t.equal(existsSync(`${path}-wal`), false, 'the write-ahead log is merged into the file')
  const again = await open(t, path)
  t.strictSame(await all(again), [{ id: 1n, name: 'fern' }])
  t.equal(await again.add({ id: 1n, name: 'ivy' }), 'conflict')
})

t.test('a file of version 1.0.0 is used, and the statements of version 1.0.0 work afterwards', async t => {
  const path = join(t.testdir(), 'plants.db')
  const old = new DatabaseSync(path)
  old.exec(version1.create)
  for (const tag of [null, 'tag']) old.prepare(version1.insert).run(tag === null ? 1 : 2, 'fern', tag)
  old.close()
  const store = await open(t, path)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'unchanged')
  t.equal(await store.add({ id: 2n, name: 'fern' }), 'conflict')
  t.equal(await store.add({ id: 3n, name: 'oak', tag: '' }), 'added')
  await store.close()
  const again = new DatabaseSync(path)
  t.teardown(() => again.close())
  t.match(again.prepare('PRAGMA user_version').get(), { user_version: version })
  t.match(again.prepare('PRAGMA application_id').get(), { application_id: 0x506c6e74 })
  t.equal(again.prepare(version1.insert).run(3, 'oak', null).changes, 0)
  t.ok(again.prepare(version1.find).get(3, 'oak', ''))
  t.equal(again.prepare(version1.insert).run(4, 'ivy', null).changes, 1)
})

t.test('a store opens while other stores create and write the same file', async t => {
  const path = join(t.testdir(), 'plants.db')
  const writers = await Promise.all(Array.from({ length: 3 }, () => open(t, path)))
  const stopped = new AbortController()
  const outcomes = new Set<string>()
  let id = 0n
  const writing = writers.map(async store => {
    // Each plant fills pages of its own.
    while (!stopped.signal.aborted) {
      outcomes.add(
        await store.add({ id: id++, name: 'x'.repeat(20_000) })
      )
    }
  })
  for (let round = 0; round < 8; round++) {
    const store = await openStore(`sqlite:${path}`, { maxQueue: 1 })
    await store.close()
  }
  stopped.abort()
  await Promise.all(writing)
  t.strictSame(outcomes, new Set(['added']))
  t.equal(await writers[0]?.count(), Number(id))
})

t.test('the store waits for another process that is creating the database in an empty file', async t => {
  const folder = t.testdir({ 'plants.db': '' })
  await (await open(t, join(folder, 'other.db'))).close()
  const opening = open(t, join(folder, 'plants.db'))
  setTimeout(() => renameSync(join(folder, 'other.db'), join(folder, 'plants.db')), 400)
  t.equal(await (await opening).count(), 0)
})

t.test('the store waits for another process that is giving a new file its mode', async t => {
  const path = join(t.testdir({ 'plants.db': '', 'plants.db-new': '' }), 'plants.db')
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const opening = open(t, path)
  // After the look at its size, which takes half a second.
  setTimeout(() => other.exec('ROLLBACK'), 1500)
  t.equal(await (await opening).add({ id: 1n, name: 'fern' }), 'added')
})

t.test('a crash during the creation leaves an empty file and a journal, which the next start uses', async t => {
  // As SQLite writes it before the first page of a new database.
  const header = Buffer.concat([Buffer.from('d9d505f920a163d7', 'hex'), Buffer.alloc(504)])
  for (const journal of ['', header]) {
    const folder = t.testdir({ 'plants.db': '', 'plants.db-journal': journal })
    const store = await open(t, join(folder, 'plants.db'))
    t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
    t.equal(existsSync(join(folder, 'plants.db-journal')), false)
    await store.close()
  }
})

t.test('a directory that cannot be created is an error; one that another store creates first is used', async t => {
  const folder = t.testdir({ file: '', dangling: t.fixture('symlink', 'nowhere') })
  const opening = (path: string) => openStore(`sqlite:${path}`, { maxQueue: 1 })
  // A file, and a link whose target does not exist, are in the way.
  const file = opening(join(folder, 'file', 'data', 'plants.db'))
  await t.rejects(file, /cannot be used: EEXIST: file already exists, mkdir '.*file'; mount or make the folder if that is a link to it, or name a file in another folder in DATABASE_URL\.$/)
  const dangling = opening(join(folder, 'dangling', 'plants.db'))
  await t.rejects(dangling, /cannot be used: EEXIST: file already exists, mkdir '.*dangling'/)
  if (existsSync('/proc/self')) {
    await t.rejects(
      opening('/proc/nowhere/plants.db'), /cannot be used: ENOENT: .*mkdir '\/proc\/nowhere'/
    )
  }
  const path = join(folder, 'new', 'plants.db')
  const stores = await Promise.all([open(t, path), open(t, path), open(t, path)])
  const outcomes = await Promise.all(stores.map(store => store.add({ id: 1n, name: 'fern' })))
  t.strictSame(outcomes.sort(), ['added', 'unchanged', 'unchanged'])
})

t.test('a file that the user may not read is refused with the way out', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  await (await open(t, path)).close()
  chmodSync(path, 0)
  const { seteuid } = process
  const isRoot = process.geteuid?.() === 0
  if (isRoot) seteuid?.('nobody')
  try {
    const remedy = 'let the user of the service read and write its folder and plants.db, plants.db-wal and ' +
      'plants.db-shm (chown, chmod), or name a file in another folder in DATABASE_URL.'
    const refusal = { message: new RegExp(`EACCES: .*; ${RegExp.escape(remedy)}$`) }
    await t.rejects(openStore(`sqlite:${path}`, { maxQueue: 1 }), refusal)
    if (isRoot) seteuid?.(0)
    chmodSync(folder, 0)
    if (isRoot) seteuid?.('nobody')
    await t.rejects(openStore(`sqlite:${path}`, { maxQueue: 1 }), refusal, 'in a folder that it may not enter')
  } finally {
    if (isRoot) seteuid?.(0)
    chmodSync(folder, 0o700)
  }
})

t.test('the database file is in WAL mode, has a STRICT table and the application id of the store', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  const database = new DatabaseSync(path, { readOnly: true })
  t.teardown(() => database.close())
  const read = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0]
  t.equal(read('PRAGMA journal_mode'), 'wal')
  t.equal(read('PRAGMA user_version'), version)
  t.equal(read('PRAGMA application_id'), 0x506c6e74)
  t.match(read("SELECT sql FROM sqlite_schema WHERE name = 'plants'"), /STRICT$/)
  await store.close()
})

t.test('two stores on one file wait for each other and list the same plants', async t => {
  const path = join(t.testdir(), 'plants.db')
  const [first, second] = [await open(t, path), await open(t, path)]
  const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => {
    const store = index % 2 === 0 ? first : second
    return store.add({ id: BigInt(index >> 1), name: `from ${index % 2}` })
  }))
  t.equal(outcomes.filter(outcome => outcome === 'added').length, 100)
  t.equal(outcomes.filter(outcome => outcome === 'conflict').length, 100)
  t.strictSame(await all(first), await all(second))
})

t.test('the store refuses a text file, the database of another program and a newer schema', async t => {
  const folder = t.testdir({ 'text.db': 'this is a text. '.repeat(50) })
  const text = join(folder, 'text.db')
  await t.rejects(
    open(t, text),
    {
      message: /^The database .*text\.db cannot be used: file is not a database; name another file, or restore .*\.$/
    }
  )
  t.match(readFileSync(text, 'utf8'), /^this is a text/)

  const small = join(folder, 'small.db')
  writeFileSync(small, 'hello')
  const warnings: string[] = []
  await t.rejects(sqliteEngine(small, warning => warnings.push(warning)), { message: /too small for a database; restore/ })
  t.strictSame(warnings, [], 'startup reports the error alone')

  const other = join(folder, 'other.db')
  const database = new DatabaseSync(other)
  database.exec('CREATE TABLE animals (id INTEGER)')
  database.close()
  const bytes = readFileSync(other)
  await t.rejects(
    open(t, other), { message: /: it is the database of another program; name another file in DATABASE_URL, or mark a restored `\.dump` \(docs\/use\/backup\.md\)\.$/ }
  )
  t.ok(readFileSync(other).equals(bytes), 'it does not change')
  const marked = new DatabaseSync(other)
  marked.exec('PRAGMA application_id = 7')
  marked.close()
  await t.rejects(open(t, other), { message: /name another file in DATABASE_URL\.$/ })

  const newer = join(folder, 'newer.db')
  const older = await open(t, newer)
  const upgraded = new DatabaseSync(newer)
  upgraded.exec(`PRAGMA user_version = ${version + 1}; PRAGMA wal_checkpoint`)
  t.equal(await older.add({ id: 1n, name: 'fern' }), 'added')
  t.match(upgraded.prepare('PRAGMA user_version').get(), { user_version: version + 1 }, 'in the log that begins')
  await older.close()
  upgraded.close()
  await t.rejects(open(t, newer), {
    message: `The database ${newer} cannot be used: it was written by a newer version of this program ` +
      `(schema ${version + 1}, known ${version}); start the newer version.`
  })
})

t.test('a database from .dump is used once it is marked as the guide says', async t => {
  const path = join(t.testdir(), 'plants.db')
  const restored = new DatabaseSync(path)
  // Without the numbers of the header.
  restored.exec(`${version1.create}; PRAGMA application_id = 0; PRAGMA user_version = 0`)
  restored.prepare(version1.insert).run(1, 'fern', null)
  await t.rejects(open(t, path), { message: /mark a restored `\.dump`/ })
  const [, mark = ''] = /"(PRAGMA application_id = .*)"/.exec(readFileSync('docs/use/backup.md', 'utf8')) ?? []
  restored.exec(mark)
  restored.close()
  t.equal(await (await open(t, path)).count(), 1)
})

t.test('a truncated or overwritten file is refused and left unchanged, or all its plants are found', async t => {
  const folder = t.testdir()
  const whole = join(folder, 'whole.db')
  const store = await open(t, whole)
  await Promise.all(Array.from({ length: 4000 }, (_, index) => {
    return store.add({ id: BigInt(index), name: `plant ${index}`, tag: 'x'.repeat(index % 50) })
  }))
  const plants = await all(store)
  await store.close()
  const bytes = readFileSync(whole)
  const pages = bytes.length >> 12
  const seed = Date.now() % 1e9
  t.comment(`seed ${seed}`)
  const random = (below: number, index: number) => Math.floor(
    Math.abs(Math.sin(seed + index) * 1e6) % 1 * below
  )
  const lengths = [
    0, 1, 99, 100, 511, 512, 4095, 4096, 8192, bytes.length >> 1, bytes.length - 4096, bytes.length - 1,
    ...Array.from({ length: 10 }, (_, index) => random(bytes.length, index))
  ]
  const withGarbageIn = (page: number) => Buffer.from(bytes).fill(
    'garbage ', page << 12, (page + 1) << 12
  )
  const damaged = [
    ...lengths.map(length => bytes.subarray(0, length)),
    ...Array.from({ length: 10 }, (_, index) => withGarbageIn(random(pages, index))),
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
      t.ok(readFileSync(path).equals(content), 'the file is unchanged')
    } else {
      t.strictSame(await all(opened), plants, 'the store finds all plants')
      await opened.close()
    }
  }
  t.ok(refused >= damaged.length - 5, `${refused} of ${damaged.length} files are refused`)
})

t.test('the store refuses a database without durable commits', async t => {
  const message = 'The database :memory: cannot be used: it cannot be opened with durable commits; name a file.'
  await t.rejects(openStore('sqlite::memory:', { maxQueue: 1 }), { message })
  t.equal(existsSync(':memory:-new'), false, 'no mark of a creation is left')
})

t.test('the store refuses a path where it cannot create a file', async t => {
  const path = join(t.testdir({ file: '' }), 'file', 'plants.db')
  await t.rejects(open(t, path), { message: /cannot be used: / })
})

t.test('a failed write rejects with StoreUnavailable, and the next write opens the file again', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  const otherConnection = new DatabaseSync(path)
  otherConnection.exec('ALTER TABLE plants RENAME TO hidden')
  await t.rejects(store.add({ id: 2n, name: 'ivy' }), {
    name: 'StoreUnavailable',
    message: 'The service could not confirm that the plant is stored. Sending the same plant again is safe.',
    cause: { message: causeOf(path, `no such table: plants; ${undo}`) }
  })
  await t.rejects(store.check(), 'check() rejects without the table')
  otherConnection.exec('ALTER TABLE hidden RENAME TO plants')
  otherConnection.close()
  t.equal(await store.add({ id: 2n, name: 'ivy' }), 'added')
  t.strictSame(await all(store), [{ id: 1n, name: 'fern' }, { id: 2n, name: 'ivy' }])
})

function openFiles (path: string): number {
  let open = 0
  for (const descriptor of readdirSync('/proc/self/fd')) {
    try {
      if (readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(path)) open++
    } catch { /* Another thread has closed it meanwhile. */ }
  }
  return open
}

t.test('a closed store leaves no descriptor', { skip: !existsSync('/proc/self') }, async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  t.ok(openFiles(path) > 0)
  await store.close()
  t.equal(openFiles(path), 0)
})

t.test('each open that fails closes its descriptors', { skip: !existsSync('/proc/self') }, async t => {
  const path = join(t.testdir(), 'plants.db')
  const engine = await sqliteEngine(path, () => {})
  t.teardown(() => engine.close())
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  other.exec('ALTER TABLE plants RENAME TO hidden')
  const counts = new Set<number>()
  for (const message of [/: no such table: plants; undo/, /table plants is gone/, /is gone/]) {
    await t.rejects(engine.addMany([{ id: 1n, name: 'fern' }]), { message })
    counts.add(openFiles(path))
  }
  t.equal(counts.size, 1)
})

t.test('a plant whose commit fails gets no answer but an error, and is not stored', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  const other = new DatabaseSync(path)
  // SQLite checks a deferred foreign key at the commit: the insert itself succeeds.
  other.exec(`CREATE TABLE parents (id INTEGER PRIMARY KEY);
    CREATE TABLE orphans (parent REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER late AFTER INSERT ON plants BEGIN INSERT INTO orphans VALUES (1); END`)
  const plant = { id: 1n, name: 'fern' }
  const message = causeOf(path, `FOREIGN KEY constraint failed; ${undo}`)
  await t.rejects(store.add(plant), { cause: { message } })
  await t.rejects(store.count(), { cause: /table plants was changed/ })
  other.exec('DROP TRIGGER late')
  other.close()
  t.equal(await store.count(), 0)
  t.equal(await store.add(plant), 'added')
})

t.test('a value that its column cannot hold is named, and not the table', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  const name = new Uint8Array(1) as unknown as string
  const message = causeOf(path, 'cannot store BLOB value in TEXT column plants.name; ' +
    'give the member and its column the same type (docs/build/add-a-member.md)')
  await t.rejects(store.add({ id: 1n, name }), { cause: { message } })
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
})

t.test('a running store adds no plants while its file is missing', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const store = await open(t, path)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  const hidden = join(folder, 'hidden.db')
  for (const suffix of ['', '-wal', '-shm']) renameSync(path + suffix, hidden + suffix)
  const ivy = { id: 2n, name: 'ivy' }
  const message = causeOf(path, 'its file was removed or replaced; put it back, or restart the service with a backup')
  for (const state of ['open', 'closed']) {
    await t.rejects(store.add(ivy), { name: 'StoreUnavailable', cause: { message } }, state)
  }
  await t.rejects(store.check(), { message })
  t.equal(existsSync(path), false, 'the store creates no empty file')
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(hidden + suffix)) renameSync(hidden + suffix, path + suffix)
  }
  t.equal(
    await store.add({ id: 1n, name: 'ivy' }),
    'conflict',
    'the store works again once the file is back'
  )
})

t.test('the store notices a replaced file, a truncated file and a removed log, and loses nothing of the last two', async t => {
  const folder = t.testdir()
  const other = await open(t, join(folder, 'other.db'))
  await other.close()
  const changes: Array<[string, (path: string) => void]> = [
    ['replaced', path => {
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
      renameSync(join(folder, 'other.db'), path)
    }],
    ['truncated', path => truncateSync(path, 0)],
    ['without its log', path => rmSync(`${path}-wal`)]
  ]
  for (const [name, change] of changes) {
    const path = join(folder, `${name}.db`)
    const store = await open(t, path)
    t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
    change(path)
    await t.rejects(store.check(), name)
    const ivy = { id: 2n, name: 'ivy' }
    const moss = { id: 3n, name: 'moss' }
    const later = await Promise.allSettled([store.add(ivy), store.add(moss)])
    t.strictSame(
      later.map(({ status }) => status),
      ['rejected', 'rejected'],
      `the store uses no ${name} file`
    )
    await t.rejects(store.check())
    if (name !== 'replaced') {
      await store.close()
      t.strictSame(
        await all(await open(t, path)),
        [{ id: 1n, name: 'fern' }],
        'SQLite wrote its pages at the end'
      )
    }
  }
})

t.test('a table that may not keep every plant is refused; other indexes are not', async t => {
  const path = join(t.testdir(), 'plants.db')
  const open = async (sql: string, version = 1) => {
    const connection = new DatabaseSync(path)
    connection.exec(`${sql}; PRAGMA application_id = 0x506c6e74; PRAGMA user_version = ${version}`)
    connection.close()
    const engine = await sqliteEngine(path, () => {})
    await engine.close()
  }
  const cases: Array<[sql: string, version?: number]> = [
    // No migration runs on such a table.
    ['CREATE TABLE plants (id INTEGER)', 0],
    ['CREATE TABLE plants (id REAL PRIMARY KEY, name TEXT NOT NULL, tag TEXT)'],
    [version1.create.replace('NOT NULL', 'NOT NULL COLLATE NOCASE')],
    [version1.create.replace('tag TEXT', 'tag TEXT UNIQUE ON CONFLICT REPLACE')],
    [`${version1.create}; CREATE UNIQUE INDEX i ON plants (name)`],
    [`${version1.create}; CREATE TRIGGER t AFTER INSERT ON plants BEGIN DELETE FROM plants; END`]
  ]
  for (const [sql, version] of cases) {
    await t.rejects(open(sql, version), {
      message: `The database ${path} cannot be used: its table plants was changed, and may not ` +
        'keep every plant; remove what was added to it, restore the file from a backup, or undo ' +
        'the change of a migration that has run.'
    }, sql)
    rmSync(path)
  }
  await t.rejects(open('CREATE TABLE other (id INTEGER)'), {
    message: `The database ${path} cannot be used: its table plants is gone; restore the file from a backup.`
  })
  rmSync(path)
  await t.rejects(open('CREATE TABLE other (id); CREATE INDEX plants ON other (id)', 0), {
    message: `The database ${path} cannot be used: migration 1 of src/stores/sqlite/schema.ts failed ` +
      '(there is already an index named plants); correct it, or name another file.'
  })
  rmSync(path)
  await t.resolves(open(`${version1.create}; CREATE INDEX i ON plants (name)`))
})

t.test('a trigger that drops a plant is an error, not a conflict', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  other.exec('CREATE TRIGGER t BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END')
  await t.rejects(store.add({ id: 1n, name: 'fern' }), {
    name: 'StoreUnavailable', cause: { message: causeOf(path, 'a trigger of its table plants drops rows; remove it') }
  })
  other.exec('DROP TRIGGER t')
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
})

/** What a start says of a log of another time. */
const otherLog = (path: string) => ({
  message: `The database ${path} cannot be used: its log ${path}-wal is not of the present file, ` +
    'and would replace plants in it; move the log away, or put the file of the log back.'
})

t.test('a removed log is merged, and may be put back until there are new plants', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const hidden = join(folder, 'hidden-wal')
  const store = await open(t, path)
  const plants = Array.from({ length: 100 }, (_, id) => ({ id: BigInt(id), name: 'fern' }))
  for (const plant of plants) await store.add(plant)
  renameSync(`${path}-wal`, hidden)
  const message = causeOf(path, 'its log or index was removed or replaced; its plants are in the ' +
    'file; restart the service, and never put the old log back')
  for (const id of [500n, 501n]) {
    await t.rejects(store.add({ id, name: 'ivy' }), { cause: { message } })
  }
  await store.close()
  copyFileSync(hidden, `${path}-wal`)
  const again = await open(t, path)
  t.strictSame(await all(again), plants)
  await again.add({ id: 1000n, name: 'oak' })
  await again.close()
  copyFileSync(hidden, `${path}-wal`)
  await t.rejects(sqliteEngine(path, () => {}), otherLog(path))
  rmSync(`${path}-wal`)
  t.equal(await (await open(t, path)).count(), 101)
})

t.test('a log without new pages of the table is known by its first commit, too', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const store = await open(t, path)
  const add = async (from: number, to: number) => {
    for (let id = from; id < to; id++) await store.add({ id: BigInt(id), name: 'x'.repeat(100) })
  }
  await add(0, 30)
  const other = new DatabaseSync(path)
  other.exec('PRAGMA wal_checkpoint(PASSIVE)')
  other.close()
  // The log begins again, with a plant that needs no new page.
  await store.add({ id: 1000n, name: 'x' })
  copyFileSync(`${path}-wal`, join(folder, 'old-wal'))
  await store.close()
  const again = await open(t, path)
  await again.add({ id: 1001n, name: 'x' })
  await again.close()
  copyFileSync(join(folder, 'old-wal'), `${path}-wal`)
  await t.rejects(sqliteEngine(path, () => {}), otherLog(path))
})

t.test('the log of a newer file is refused beside an older one', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const backup = join(folder, 'backup.db')
  await (await open(t, path)).close()
  copyFileSync(path, backup)
  for (const id of [1n, 2n]) {
    const store = await open(t, path)
    await store.add({ id, name: 'fern' })
    if (id === 2n) copyFileSync(`${path}-wal`, `${backup}-wal`)
    await store.close()
  }
  await t.rejects(sqliteEngine(backup, () => {}), otherLog(backup))
})

t.test('a lost log that is put back after one more run is refused', async t => {
  const folder = t.testdir()
  const [path, crashed] = [join(folder, 'plants.db'), join(folder, 'crashed.db')]
  await (await open(t, path)).close()
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  copyFileSync(path, crashed)
  const again = await open(t, crashed)
  await again.add({ id: 2n, name: 'oak' })
  await again.close()
  copyFileSync(`${path}-wal`, `${crashed}-wal`)
  await t.rejects(sqliteEngine(crashed, () => {}), otherLog(crashed))
})

t.test('a removed log is merged, although a copy has the place of the index', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  copyFileSync(`${path}-shm`, `${path}-copy`)
  renameSync(`${path}-copy`, `${path}-shm`)
  rmSync(`${path}-wal`)
  await store.close()
  t.equal(await (await open(t, path)).count(), 1)
})

t.test('a removed log that a reader keeps out of the file is merged once the reader ends', async t => {
  const path = join(t.testdir(), 'plants.db')
  for (const isMerged of [true, false]) {
    const engine = await sqliteEngine(path, () => {})
    const reader = new DatabaseSync(path)
    t.teardown(() => reader.close())
    reader.exec('BEGIN; SELECT count(*) FROM plants')
    const plant = { id: isMerged ? 1n : 2n, name: 'fern' }
    t.strictSame(await engine.addMany([plant]), ['added'])
    rmSync(`${path}-wal`)
    const late = { id: 3n, name: 'late' }
    for (let call = 0; call < 2; call++) {
      await t.rejects(engine.addMany([late]), /prevents that the file gets its last plants/)
    }
    if (isMerged) {
      reader.exec('COMMIT')
      await t.rejects(engine.addMany([late]), /its plants are in the file; restart/)
      await engine.close()
      const again = await sqliteEngine(path, () => {})
      t.strictSame(await again.addMany([plant]), ['unchanged'])
      await again.close()
    } else {
      const message = `The log of the database ${path} was removed with its last plants.`
      await t.rejects(engine.close(), { message })
    }
  }
})

t.test('a stop that leaves plants in the log alone warns to keep both files', async t => {
  const path = join(t.testdir(), 'plants.db')
  const warnings: string[] = []
  const engine = await sqliteEngine(path, sentence => warnings.push(sentence))
  const reader = new DatabaseSync(path)
  reader.exec('BEGIN; SELECT count(*) FROM plants')
  const plant = { id: 1n, name: 'fern' }
  t.strictSame(await engine.addMany([plant]), ['added'])
  await engine.close()
  t.match(warnings, [/plants\.db-wal alone has the last plants of .+\. Keep both together for the next start\.$/])
  reader.close()
  const next = await sqliteEngine(path, sentence => warnings.push(sentence))
  t.strictSame(await next.addMany([plant]), ['unchanged'])
  await next.close()
  t.equal(warnings.length, 1, 'a log that is merged needs no warning')
})

t.test('a backup that is copied over the open file is an error for good', async t => {
  const folder = t.testdir()
  const fill = async (name: string, plants: number, text: string) => {
    const store = await open(t, join(folder, name))
    const ids = Array.from({ length: plants }, (_, index) => BigInt(index))
    await Promise.all(ids.map(id => store.add({ id, name: text })))
    return store
  }
  await (await fill('backup.db', 3000, 'x'.repeat(100))).close()
  // With the larger plants, SQLite has merged its log into the file before.
  for (const [plants, text] of [[10, 'x'], [3000, 'x'], [1000, 'x'.repeat(5000)]] as const) {
    const path = join(folder, `${plants}-${text.length}.db`)
    const store = await fill(`${plants}-${text.length}.db`, plants, text)
    copyFileSync(join(folder, 'backup.db'), path)
    for (let id = 10_000n; id < 10_003n; id++) {
      await t.rejects(
        store.add({ id, name: 'late' }), { name: 'StoreUnavailable' }, `${plants} plants`
      )
    }
    await t.rejects(store.check())
    await store.close()
  }
})

t.test('a file whose time is changed is refused until a restart, but not locked', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  utimesSync(path, 1, 1)
  const message = causeOf(path, 'its file was changed by another program; restart the service, which checks it')
  await t.rejects(store.add({ id: 2n, name: 'ivy' }), { cause: { message } })
  await t.rejects(store.check(), { message })
  const other = await open(t, path)
  t.equal(await other.add({ id: 2n, name: 'ivy' }), 'added', 'another service may use the file')
  const third = new DatabaseSync(path)
  t.teardown(() => third.close())
  third.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  await t.rejects(
    store.add({ id: 3n, name: 'moss' }), { cause: { message } }, 'the merged log hides the change'
  )
  await t.rejects(store.check(), { message })
})

t.test('a backup that is copied over the file after its log was merged is noticed by its size', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  const other = new DatabaseSync(path)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  other.close()
  copyFileSync(path, join(folder, 'backup.db'))
  await Promise.all(
    Array.from(
      { length: 100 }, (_, index) => store.add({ id: BigInt(index), name: 'x'.repeat(1000) })
    )
  )
  const third = new DatabaseSync(path)
  t.teardown(() => third.close())
  third.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  copyFileSync(join(folder, 'backup.db'), path)
  await t.rejects(store.add({ id: 200n, name: 'late' }))
  await t.rejects(store.check())
})

t.test('another process may merge the log into the file at any time', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  for (let id = 0n; id < 50n; id++) {
    t.equal(await store.add({ id, name: 'x'.repeat(10_000) }), 'added')
    if (id % 3n === 0n) {
      other.exec(
      `PRAGMA wal_checkpoint(${id % 2n === 0n ? 'PASSIVE' : 'TRUNCATE'})`
      )
    }
  }
  t.equal(await store.count(), 50)
})

t.test('a truncated log is an error for good, because plants of it are lost', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  for (let id = 0n; id < 20n; id++) await store.add({ id, name: 'x'.repeat(1000) })
  truncateSync(`${path}-wal`, 5000)
  const truncated = causeOf(path, 'its write-ahead log was truncated, and plants of it are lost; ' +
    'stop the service and restore a backup')
  for (let attempt = 0; attempt < 2; attempt++) {
    await t.rejects(
      store.add({ id: 100n, name: 'late' }),
      { name: 'StoreUnavailable', cause: { message: truncated } }
    )
    await t.rejects(store.check(), { message: truncated })
  }
})

t.test('a smaller backup that is copied over the file after its log was merged is an error for good', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const backup = join(folder, 'backup.db')
  const store = await open(t, path)
  const add = (from: number) => Promise.all(Array.from({ length: 300 }, (_, index) => {
    return store.add({ id: BigInt(from + index), name: 'x'.repeat(100) })
  }))
  await add(0)
  const other = new DatabaseSync(path)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  copyFileSync(path, backup)
  await add(300)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  await store.check()
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  other.close()
  copyFileSync(backup, path)
  for (let id = 1000n; id < 1003n; id++) {
    await t.rejects(
      store.add({ id, name: 'late' }), { name: 'StoreUnavailable' }
    )
  }
  await t.rejects(store.check(), /restart the service/)
})

t.test('a file that gets the place of a removed one is refused, although its log is empty', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const backup = join(folder, 'backup.db')
  await (await open(t, backup)).close()
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  const other = new DatabaseSync(path)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  other.close()
  rmSync(path)
  await t.rejects(store.check())
  // A file system gives a new file the inode of the last one that was removed, unless that one is
  // open.
  copyFileSync(backup, path)
  const message = causeOf(path, 'its file was removed or replaced; put it back, or restart the service with a backup')
  await t.rejects(store.check(), { message })
  await t.rejects(store.add({ id: 2n, name: 'ivy' }), { name: 'StoreUnavailable' })
})

t.test('the store goes on after another process has made the file shorter with VACUUM', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  await Promise.all(
    Array.from({ length: 100 }, (_, id) => store.add({ id: BigInt(id), name: 'x'.repeat(5000) }))
  )
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  await store.check()
  other.exec('DELETE FROM plants WHERE id > 0; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  await t.rejects(store.check(), { message: 'its file is shorter than before' })
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  t.equal(await store.count(), 2)
})

t.test('a first start that fails leaves no empty file, which would be refused', async t => {
  // SQLite cannot create its journal.
  const folder = t.testdir({ 'plants.db-journal': {} })
  const path = join(folder, 'plants.db')
  await t.rejects(open(t, path), /cannot be used: unable to open database file/)
  t.equal(existsSync(path), false)
  rmSync(`${path}-journal`, { recursive: true })
  await t.resolves(open(t, path))
})

t.test('the mark of a creation is there before the file', { skip: process.platform !== 'linux' }, async t => {
  const folder = t.testdir()
  const created: string[] = []
  const watcher = watch(folder, (_event, name) => { created.push(String(name)) })
  t.teardown(() => watcher.close())
  await open(t, join(folder, 'plants.db'))
  while (!created.includes('plants.db')) await new Promise(setImmediate)
  t.equal(created[0], 'plants.db-new')
  t.notOk(existsSync(join(folder, 'plants.db-new')), 'and goes with the table')
})

t.test('a first start that is interrupted before the table is in the log can go on', async t => {
  // SQLite cannot create its index: the file has its first page by then, and the log is empty.
  const folder = t.testdir({ 'plants.db-shm': {} })
  const path = join(folder, 'plants.db')
  await t.rejects(open(t, path), /cannot be used: /)
  t.equal(statSync(path).size, 4096)
  t.equal(statSync(`${path}-wal`).size, 0)
  // As the end of the connection does on a full disk or after SIGTERM.
  rmSync(`${path}-wal`)
  rmSync(`${path}-shm`, { recursive: true })
  const other = join(folder, 'other.db')
  copyFileSync(path, other)
  await (await open(t, path)).close()
  t.strictSame(readdirSync(folder).sort(), ['other.db', 'plants.db'], 'the mark is gone')
  // The same file without the mark is one whose log is lost.
  await t.rejects(open(t, other), /cannot be used: it is empty without its log/)
})

t.test('a log without its file is refused at startup, and is not deleted', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const store = await open(t, path)
  await store.add({ id: 1n, name: 'fern' })
  const moved = join(folder, 'moved.db')
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, moved + suffix)
  const away = join(folder, 'away.db')
  renameSync(moved, away)
  const message = `The database ${moved} cannot be used: its file is missing, but ${moved}-wal has plants of it; ` +
    'put the file back, or remove the log.'
  await t.rejects(open(t, moved), { message })
  renameSync(away, moved)
  t.strictSame(await all(await open(t, moved)), [{ id: 1n, name: 'fern' }])
  const other = join(folder, 'other.db')
  writeFileSync(`${other}-wal`, '')
  t.equal(await (await open(t, other)).count(), 0, 'an empty log has no plants')
})

t.test('a folder that may not be entered for a moment stops the store for this moment alone', async t => {
  const folder = join(t.testdir({ data: {} }), 'data')
  const store = await open(t, join(folder, 'plants.db'))
  await store.add({ id: 1n, name: 'fern' })
  // Root may enter every folder; a loop of links fails likewise.
  renameSync(folder, `${folder}-away`)
  symlinkSync(folder, folder)
  for (const id of [2n, 3n]) {
    await t.rejects(store.add({ id, name: 'fern' }), { cause: /cannot be used: ELOOP: .*, stat / })
    await t.rejects(store.check(), /ELOOP/)
  }
  rmSync(folder)
  renameSync(`${folder}-away`, folder)
  await store.check()
  t.equal(await store.add({ id: 2n, name: 'fern' }), 'added')
  t.strictSame((await all(store)).map(({ id }) => id), [1n, 2n])
})

t.test('a folder, a symbolic link, a pipe and a file with several hard links are refused', async t => {
  const folder = t.testdir({ link: t.fixture('symlink', 'plants.db'), 'logged-wal': {} })
  const path = join(folder, 'plants.db')
  await (await open(t, path)).close()
  linkSync(path, `${path}.link`)
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const refused = {
    [join(folder, 'pipe')]: 'it is not a regular file; name one',
    [folder]: 'it is a folder; name a file in it',
    [join(folder, 'logged')]: `its log ${join(folder, 'logged-wal')} is a folder; remove it`,
    [join(folder, 'link')]: 'it is a symbolic link; name the file itself',
    [path]: 'its file has another hard link, by which SQLite would lose plants; remove that link (find -samefile)'
  }
  for (const [path, problem] of Object.entries(refused)) {
    await t.rejects(open(t, path), { message: `The database ${path} cannot be used: ${problem}.` })
  }
})

// For the user root, only /proc refuses a file.
t.test('an error of SQLite names a way out', { skip: !existsSync('/proc/self') }, async t => {
  const path = '/proc/self/plants.db'
  const message = `The database ${path} cannot be used: unable to open database file; ` +
    'let the user of the service write to its folder and to plants.db, plants.db-wal and ' +
    'plants.db-shm, on a disk that is not mounted read-only and has free inodes (df -i).'
  await t.rejects(open(t, path), { message })
})

t.test('a slow start of the thread is no reason to suspect the file', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const warnings: string[] = []
  const onWarning = (warning: string) => warnings.push(warning)
  const url = `sqlite:${join(t.testdir(), 'plants.db')}`
  const opening = openStore(url, { maxQueue: 1, onWarning })
  mock.timers.tick(60_000)
  await (await opening).close()
  t.strictSame(warnings, [])
})

t.test('a worker that exits fails its pending calls, and the next call starts another worker', async t => {
  const workers: Worker[] = []
  class RecordedWorker extends Worker {
    constructor (...args: ConstructorParameters<typeof Worker>) {
      super(...args)
      workers.push(this)
    }
  }
  replaceExports(t, workerThreads, { Worker: RecordedWorker })
  const warnings: string[] = []
  const path = join(t.testdir(), 'plants.db')
  const engine = await sqliteEngine(path, warning => warnings.push(warning))
  t.strictSame(await engine.addMany([{ id: 1n, name: 'fern' }]), ['added'])
  const pending = engine.addMany(
    Array.from({ length: 50_000 }, (_, index) => ({ id: BigInt(index + 2), name: 'x' }))
  )
  workers[0]?.terminate()
  await t.rejects(pending, { message: 'The thread of the engine has ended.' })
  const outcomes = await engine.addMany([{ id: 1n, name: 'fern' }, { id: 2n, name: 'x' }])
  t.strictSame(outcomes, ['unchanged', 'added'], 'the failed batch added no plants')
  t.equal(workers.length, 2)

  // An uncaught error in the worker, for example when it runs out of memory.
  workers[1]?.postMessage('no port')
  await new Promise(resolve => workers[1]?.once('exit', resolve))
  t.strictSame(warnings, [
    `The thread of the database ${path} has failed: TypeError: port.on is not a function.`
  ])
  // On a busy machine the connection may end after the event of the exit, and fails one more call.
  const addAgain = ({ addMany }: Pick<Engine, 'addMany'>) => {
    const plants = [{ id: 2n, name: 'x' }]
    return addMany(plants).catch(() => addMany(plants))
  }
  t.strictSame(await addAgain(engine), ['unchanged'])
  t.equal(workers.length, 3)

  // Only another thread uses the engine meanwhile.
  const other = remoteEngine(createConnector(engine))
  for (const index of [2, 3]) {
    await workers[index]?.terminate()
    t.strictSame(await addAgain(other), ['unchanged'])
    t.equal(workers.length, index + 2)
  }
  await engine.close()
})

t.test('a start whose thread ends names the database', async t => {
  let started = 0
  class EndingWorker extends Worker {
    constructor (...args: ConstructorParameters<typeof Worker>) {
      super(...args)
      if (started++ === 0) this.terminate()
    }
  }
  replaceExports(t, workerThreads, { Worker: EndingWorker })
  const path = join(t.testdir(), 'plants.db')
  const message = `The database ${path} cannot be used: The thread of the engine has ended.`
  await t.rejects(sqliteEngine(path, () => {}), { message })
})

/** 100 plants that take about 800 pages. */
const largePlants = (first: number) => Array.from({ length: 100 }, (_, index) => {
  return { id: BigInt(first + index), name: 'x'.repeat(30_000) }
})

t.test('a plant that another program has stored without a sync is synced before it is unchanged', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  const other = new DatabaseSync(path)
  other.exec("PRAGMA synchronous = NORMAL; INSERT INTO plants (id, name) VALUES (1, 'fern')")
  other.close()
  const logSize = () => statSync(`${path}-wal`).size
  const before = logSize()
  t.equal(await store.add({ id: 1n, name: 'ivy' }), 'conflict')
  t.equal(logSize(), before)
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'unchanged')
  t.ok(logSize() > before, 'only a commit that writes is synced')
})

t.test('a close is an error when the file was moved together with its log', async t => {
  const folder = t.testdir({ data: {} })
  const engine = await sqliteEngine(join(folder, 'data', 'plants.db'), () => {})
  await engine.addMany([{ id: 1n, name: 'fern' }])
  renameSync(join(folder, 'data'), join(folder, 'moved'))
  const message = /data\/plants\.db was moved together with its log, which may have plants of it\. Keep both together\.$/
  await t.rejects(engine.close(), message)
  const moved = await open(t, join(folder, 'moved', 'plants.db'))
  t.equal(await moved.add({ id: 1n, name: 'oak' }), 'conflict')
})

t.test('checkpoints merge the log into the file', async t => {
  const path = join(t.testdir(), 'plants.db')
  const engine = await sqliteEngine(path, () => {})
  for (let first = 0; first < 1000; first += 100) await engine.addMany(largePlants(first))
  t.ok(statSync(path).size > 25_000_000)
  t.ok(statSync(`${path}-wal`).size < 10_000_000)
  await engine.close()
})

/** Workers whose own syncs fail while the file `flag` exists, and what they do to this process. */
function failSyncs (t: Test, folder: string) {
  const flag = join(folder, 'fail')
  const workers: Worker[] = []
  class FailingWorker extends Worker {
    constructor (url: URL, options: object) {
      const execArgv = ['--import', resolve('test/fixtures/failing-sync.mjs')]
      super(url, { ...options, execArgv, env: { ...process.env, FAIL_SYNC: flag } })
      workers.push(this)
    }
  }
  replaceExports(t, workerThreads, { Worker: FailingWorker as typeof Worker })
  t.teardown(() => Promise.all(workers.map(worker => worker.terminate())))
  const atExit: unknown[] = []
  const { once } = process
  t.intercept(process, 'once', {
    value: (event: string, listener: () => void) => {
      if (event !== 'exit') return once.call(process, event, listener)
      return atExit.push(listener)
    }
  })
  const endThread = async (nth: number) => {
    workers[nth]?.ref()
    workers[nth]?.postMessage('no port')
    await new Promise(resolve => workers[nth]?.once('exit', resolve))
  }
  /** The message of the thread comes by another port than the error. */
  const untilAtExit = async (length: number) => {
    while (atExit.length < length) await new Promise(setImmediate)
  }
  const set = (isFailing: boolean | 'folders') => {
    if (isFailing === false) return rmSync(flag)
    writeFileSync(flag, isFailing === true ? '' : isFailing)
  }
  return { workers, atExit, untilAtExit, endThread, set }
}

const unsynced = {
  message: /its pages may not be on the disk \(EIO: i\/o error, fsync\); end all programs/
}

t.test('names of files that may not be on the disk are an error for good', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const { untilAtExit, endThread, set } = failSyncs(t, folder)
  set('folders')
  await t.rejects(sqliteEngine(path, () => {}), unsynced)
  await untilAtExit(2)
  await endThread(0)
  set(false)
  await t.rejects(sqliteEngine(path, () => {}), /a sync of it has failed/, 'the next start')
})

t.test('pages that may not be on the disk are an error for good, and leave the log as it is', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const { workers, untilAtExit, endThread, set } = failSyncs(t, folder)
  set(true)
  await t.rejects(sqliteEngine(path, () => {}), /its pages may not be on the disk/, 'a start')
  await untilAtExit(2)
  await endThread(0)
  set(false)
  const refused = {
    message: `The database ${path} cannot be used: a sync of it has failed, and its pages may be ` +
      'only in the cache of this machine; restart the machine, or unmount and mount the file ' +
      `system; then remove ${path}-unsynced if it is still there.`
  }
  await t.rejects(sqliteEngine(path, () => {}), refused, 'the next start')
  rmSync(`${path}-unsynced`)

  const engine = await sqliteEngine(path, () => {})
  const reader = new DatabaseSync(path)
  // Keeps the pages that come later out of the file.
  const read = () => reader.exec('BEGIN; SELECT count(*) FROM plants')
  await engine.addMany(largePlants(0))
  read()
  await engine.addMany(largePlants(100))
  reader.exec('COMMIT')
  read()
  set(true)
  await t.rejects(engine.addMany(largePlants(200)), unsynced)
  set(false)
  await t.rejects(engine.addMany([{ id: 1n, name: 'late' }]), unsynced)
  await t.rejects(engine.check(), unsynced)
  await untilAtExit(4)
  reader.close()
  const nth = workers.length - 1
  await endThread(nth)
  const useElsewhere = "new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('SELECT count(*) FROM plants')"
  execFileSync(process.execPath, ['-e', useElsewhere, path])
  t.ok(statSync(`${path}-wal`).size > 0, 'also when the thread and another process end')
  // The connection may end during the first call; the second one wants another.
  for (let call = 0; call < 2; call++) {
    await t.rejects(engine.check(), { message: 'The thread of the engine has ended.' })
  }
  t.equal(workers.length, nth + 1, 'no thread begins the log again')
})

t.test('a sync that fails while the file is closed is an error for good, too', async t => {
  const folder = t.testdir()
  const closings: Array<[string, (engine: Engine, path: string) => Promise<unknown>]> = [
    ['a shutdown', engine => engine.close()],
    ['after a failed write', (engine, path) => {
      execFileSync(process.execPath, ['-e', `new (require('node:sqlite').DatabaseSync)(process.argv[1])
        .exec('ALTER TABLE plants RENAME TO hidden')`, path])
      return engine.addMany([{ id: 2n, name: 'ivy' }])
    }]
  ]
  const { workers, atExit, untilAtExit, endThread, set } = failSyncs(t, folder)
  let nth = 0
  for (const [name, close] of closings) {
    const path = join(folder, `${name}.db`)
    const warnings: string[] = []
    nth = workers.length
    const engine = await sqliteEngine(path, warning => warnings.push(warning))
    await engine.addMany([{ id: 1n, name: 'fern' }])
    // The mark cannot be written.
    mkdirSync(`${path}-unsynced`)
    set(true)
    const before = atExit.length
    await t.rejects(close(engine, path), unsynced, name)
    set(false)
    t.ok(existsSync(`${path}-wal`), 'the log is there')
    await untilAtExit(before + 2)
    while (warnings.length === 0) await new Promise(setImmediate)
    t.equal(atExit.length, before + 2, 'the process will be killed, or abort')
    t.match(warnings, [/^A sync of the database .* has failed, and so has the file .*: EISDIR/])
    await t.rejects(sqliteEngine(path, () => {}), /a sync of it has failed/)
  }
  // The coverage of a thread that is terminated is lost.
  await endThread(nth)
})

t.test('a file that another process has by another log or index is left to that process', async t => {
  const folder = t.testdir()
  const { untilAtExit, endThread } = failSyncs(t, folder)
  const useElsewhere = (path: string, sql: string) => execFileSync(process.execPath, ['-e',
    "new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec(process.argv[2])", path, sql])
  const message = 'another program has removed, emptied or restarted its log or index; ' +
    'restart the service, and restore a backup if plants are missing'
  for (const [nth, suffix] of ['-shm', '-wal'].entries()) {
    const path = join(folder, `plants${suffix}.db`)
    const engine = await sqliteEngine(path, () => {})
    await engine.addMany([{ id: 1n, name: 'fern' }])
    if (suffix === '-wal') useElsewhere(path, 'PRAGMA wal_checkpoint(PASSIVE)')
    rmSync(path + suffix)
    // The second process does not let the first one read what it needs.
    useElsewhere(path, "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO plants (id, name) VALUES (2, 'ivy')")
    await t.rejects(engine.count(), { message }, suffix)
    await t.rejects(engine.page(0n, 10), { message }, suffix)
    await t.rejects(engine.addMany([{ id: 3n, name: 'oak' }]), { message })
    await engine.close()
    await untilAtExit(2 * nth + 2)
    await endThread(nth)
    t.ok(statSync(`${path}-wal`).size > 0, 'also when the thread ends')
  }
})

t.test('a failed sync of an earlier boot is forgotten when the log is merged', async t => {
  const path = join(t.testdir(), 'plants.db')
  await (await open(t, path)).close()
  writeFileSync(`${path}-unsynced`, '00000000-0000-4000-8000-000000000000')
  await open(t, path)
  t.equal(existsSync(`${path}-unsynced`), false)
})

t.test('after SQLITE_FULL the file and its index stay open', async t => {
  const path = join(t.testdir(), 'plants.db')
  const engine = await sqliteEngine(path, () => {})
  t.teardown(() => engine.close())
  const index = statSync(`${path}-shm`).ino
  const other = new DatabaseSync(path)
  // The only statement whose error has this code, while the disk has space.
  other.exec('CREATE TABLE full (id INTEGER PRIMARY KEY AUTOINCREMENT)')
  other.exec(`INSERT INTO full VALUES (${2n ** 63n - 1n}); CREATE TRIGGER late
    AFTER INSERT ON plants BEGIN INSERT INTO full VALUES (NULL); END`)
  other.close()
  const fern = { id: 1n, name: 'fern' }
  await t.rejects(engine.addMany([fern]), { message: causeOf(path, 'database or disk is full; free some space') })
  t.equal(statSync(`${path}-shm`).ino, index)
  t.equal(await engine.count(), 0, 'the transaction is rolled back')
  const third = new DatabaseSync(path)
  third.exec('DROP TRIGGER late')
  third.close()
  t.strictSame(await engine.addMany([fern]), ['added'])
})

t.test('several threads use one database, and their waiting batches share a commit', async t => {
  const path = join(t.testdir(), 'plants.db')
  const engine = await openEngine(`sqlite:${path}`, () => {})
  const others = [1, 2].map(() => remoteEngine(createConnector(engine)))
  const all = [engine, ...others]
  await Promise.all(others.map(other => other.check()))
  const rounds = Array.from({ length: 20 }, (_, round) => all.map((each, nth) => {
    const own = BigInt(1000 * (nth + 1) + round)
    return each.addMany([{ id: BigInt(round), name: `of ${nth}` }, { id: own, name: 'own' }])
  }))
  const outcomes = (await Promise.all(rounds.flat())).map(([first]) => first)
  t.equal(outcomes.filter(outcome => outcome === 'added').length, 20, 'each id is added once')
  t.equal(outcomes.filter(outcome => outcome === 'conflict').length, 40)
  t.match(await others[0]?.page(0n, 1), [{ id: 0n, name: /^of \d$/ }])
  t.equal(await others[1]?.count(), 80)
  await engine.close()
})

t.test('the store refuses a file that was truncated to half its size', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  const ids = Array.from({ length: 1000 }, (_, index) => BigInt(index))
  await Promise.all(ids.map(id => store.add({ id, name: 'x'.repeat(100) })))
  await store.close()
  const whole = readFileSync(path)
  writeFileSync(path, whole.subarray(0, whole.length / 2))
  await t.rejects(openStore(`sqlite:${path}`, { maxQueue: 1 }).then(all), /malformed; put its log beside it as plants\.db-wal if it was moved without, or restore it from a backup/)
})

t.test('a table that somebody else has changed conflicts only by its id', async t => {
  const path = join(t.testdir(), 'plants.db')
  const store = await open(t, path)
  const other = new DatabaseSync(path)
  other.exec('CREATE UNIQUE INDEX names ON plants (name)')
  other.close()
  t.equal(await store.add({ id: 1n, name: 'fern' }), 'added')
  t.equal(await store.add({ id: 1n, name: 'ivy' }), 'conflict')
  await t.rejects(store.add({ id: 2n, name: 'fern' }), { cause: /UNIQUE constraint failed/ })
})
