// A full disk and missing write permission: the service answers 503, is not ready, loses no
// acknowledged plant and recovers without a restart.
import { execFile } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { newAccount, sendPlants, settle } from '../../fixtures/load.ts'
import { inParallel } from '../../fixtures/parallel.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { type Launch, postPlant, startService, waitForReady } from '../../fixtures/service.ts'

const test = inParallel(t, 3)

const run = promisify(execFile)

const isRoot = process.getuid?.() === 0
const nobody = 65534
/** Root may write anywhere: a test that runs as root starts the service as the user nobody. */
const asUser: Launch = isRoot ? { uid: nobody, gid: nobody } : {}
/**
 * Each file may grow up to these bytes. Under coverage the process would end at SIGXFSZ, which Node
 * ignores.
 */
const limitFiles = (bytes: number) => ['prlimit', `--fsize=${bytes}:unlimited`, process.execPath]

/** A folder that belongs to the user of the service. */
function makeFolder (t: Test): string {
  const folder = join(t.testdir(), 'data')
  mkdirSync(folder)
  if (isRoot) chownSync(folder, nobody, nobody)
  return folder
}

async function waitUntil (condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 10))
}

test('a first start on a full disk leaves no file that later starts refuse', async t => {
  const folder = makeFolder(t)
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` }
  const first = await startService(t, folder, env, [], { command: limitFiles(0) })
  t.equal(await first.ended, 1)
  t.match(first.output(), /^The database .* cannot be used: disk I\/O error; look at the space \(df\), .*\.$/m)
  const second = await startService(t, folder, env)
  t.equal((await postPlant(second.origin, testToken, '{"id":1,"name":"x"}')).status, 200)
  second.child.kill('SIGTERM')
  t.equal(await second.ended, 0)
})

test('on a full disk the service answers 503 and is not ready; with free space it recovers by itself', async t => {
  const folder = makeFolder(t)
  const url = `sqlite:${join(folder, 'plants.db')}`
  // The limit of 256 KiB for each file is a full disk to SQLite.
  const command = limitFiles(256 * 1024)
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: url }
  const { child, origin, ended } = await startService(t, folder, env, [], { command })
  const account = newAccount()
  const load = sendPlants(origin, account, 16)
  await waitUntil(() => account.statuses.has(503))
  // When SQLite merges its log into the file, plants may fit again: the load goes on until none
  // fits.
  await waitForReady(origin, 503)
  await load.stop()
  t.ok(account.acknowledged.size > 0, 'some plants fit')
  t.strictSame(new Set(account.statuses.keys()), new Set([200, 503]))

  // A checkpoint may have made room for a large plant, but not for twenty of them.
  const large = { id: 0n, name: 'x'.repeat(60_000) }
  const post = () => postPlant(origin, testToken, `{"id":${large.id},"name":"${large.name}"}`)
  let refused
  do {
    large.id--
    account.sent.set(large.id, { ...large })
    refused = await post()
    if (refused.status === 200) account.acknowledged.add(large.id)
  } while (refused.status === 200 && large.id > -20n)
  const body = { error: 503, message: 'The service could not confirm that the plant is stored. Sending the same plant again is safe.' }
  t.strictSame([refused.status, refused.headers.get('retry-after'), await refused.json()], [503, '1', body])
  t.equal((await fetch(`${origin}/livez`)).status, 200)

  await run('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:unlimited'])
  t.equal((await post()).status, 200)
  await waitForReady(origin, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})

test('a plant that is in the log is acknowledged, although its checkpoint fails on a full disk', async t => {
  const folder = makeFolder(t)
  const url = `sqlite:${join(folder, 'plants.db')}`
  // The file is full before the log is: checkpoints come at 4 MiB of log.
  const command = limitFiles(6 * 2 ** 20)
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: url }
  const { child, origin, ended } = await startService(t, folder, env, [], { command })
  const name = 'x'.repeat(60_000)
  const post = (id: number) => postPlant(origin, testToken, `{"id":${id},"name":"${name}"}`)
  let stored = 0
  while ((await post(stored)).status === 200) stored++
  child.kill('SIGKILL')
  await ended
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  t.ok(stored * name.length > 8 * 2 ** 20)
  t.equal(await store.count(), stored, 'the plant that is refused is not stored')
})

test('startup reports a file or a folder without write permission and leaves the file unchanged', async t => {
  const folder = makeFolder(t)
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` }
  const start = (more = {}) => startService(t, folder, { ...env, ...more }, [], asUser)
  const first = await start()
  t.equal((await postPlant(first.origin, testToken, '{"id":1,"name":"x"}')).status, 200)
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
  const before = readFileSync(join(folder, 'plants.db'))

  chmodSync(join(folder, 'plants.db'), 0o444)
  const readOnlyFile = await start()
  t.equal(await readOnlyFile.ended, 1)
  const problem = `EACCES: permission denied, access '${join(folder, 'plants.db')}'`
  const wayOut = 'let the user of the service read and write its folder and plants.db, plants.db-wal and ' +
    'plants.db-shm (chown, chmod), or name a file in another folder in DATABASE_URL'
  t.match(readOnlyFile.output(), `plants.db cannot be used: ${problem}; ${wayOut}.\n`)
  t.strictSame(readdirSync(folder).filter(file => file.startsWith('plants.db')), ['plants.db'])

  chmodSync(join(folder, 'plants.db'), 0o644)
  chmodSync(folder, 0o555)
  const readOnlyFolder = await start()
  t.equal(await readOnlyFolder.ended, 1)
  t.match(readOnlyFolder.output(), /^The database .*plants\.db cannot be used: .+\.$/m)
  const newFolder = await start({ DATABASE_URL: `sqlite:${join(folder, 'new', 'plants.db')}` })
  t.equal(await newFolder.ended, 1)
  t.match(newFolder.output(), /^The database .*new\/plants\.db cannot be used: EACCES.+\.$/m)
  chmodSync(folder, 0o755)
  t.ok(readFileSync(join(folder, 'plants.db')).equals(before))
})

test('no acknowledged plant is lost when the folder loses its write permission under load', async t => {
  const folder = makeFolder(t)
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` }
  const { child, origin, ended } = await startService(t, folder, env, [], asUser)
  const account = newAccount()
  const load = sendPlants(origin, account, 8)
  const responses = () => account.acknowledged.size + (account.statuses.get(503) ?? 0)
  await waitUntil(() => account.acknowledged.size >= 100)
  chmodSync(folder, 0o555)
  const before = account.acknowledged.size
  await waitUntil(() => responses() >= before + 500)
  await load.stop()
  child.kill('SIGKILL')
  await ended
  chmodSync(folder, 0o755)
  const store = await openStore(`sqlite:${resolve(folder, 'plants.db')}`, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})

test('a truncated index ends the process, and the next start has all plants', async t => {
  const folder = t.testdir()
  const url = `sqlite:${join(folder, 'plants.db')}`
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: url }
  const { origin, ended } = await startService(t, folder, env)
  t.equal((await postPlant(origin, testToken, '{"id":1,"name":"fern"}')).status, 200)
  truncateSync(join(folder, 'plants.db-shm'), 0)
  await t.rejects(postPlant(origin, testToken, '{"id":2,"name":"ivy"}'))
  t.equal(await ended, 'SIGBUS')
  const next = await startService(t, folder, env)
  const again = async (plant: string) => (await postPlant(next.origin, testToken, plant)).status
  t.strictSame([await again('{"id":1,"name":"other"}'), await again('{"id":2,"name":"ivy"}')], [409, 200])
})

test('a service leaves its file to one that has begun another index, and no plant is lost', async t => {
  const folder = t.testdir()
  const url = `sqlite:${join(folder, 'plants.db')}`
  const start = () => startService(t, folder, { ACCESS_TOKENS: testToken, DATABASE_URL: url })
  const account = newAccount()
  const fill = async (origin: string) => {
    const enough = account.acknowledged.size + 300
    const load = sendPlants(origin, account, 4)
    await waitUntil(() => account.acknowledged.size >= enough)
    await load.stop()
  }
  const first = await start()
  await fill(first.origin)
  rmSync(join(folder, 'plants.db-shm'))
  const second = await start()
  await fill(second.origin)
  for (let id = 1_000_000; id < 1_000_003; id++) {
    const { status } = await postPlant(first.origin, testToken, `{"id":${id},"name":"late"}`)
    t.equal(status, 503)
  }
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 'SIGKILL', 'SQLite would merge what the log no longer has')
  await fill(second.origin)
  second.child.kill('SIGTERM')
  t.equal(await second.ended, 0)
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})

test('a service without its log leaves the file to one that has begun another log', async t => {
  const folder = t.testdir()
  const url = `sqlite:${join(folder, 'plants.db')}`
  const start = () => startService(t, folder, { ACCESS_TOKENS: testToken, DATABASE_URL: url })
  const plant = (id: number) => `{"id":${id},"name":"fern"}`
  const post = async ({ origin }: { origin: string }, ids: number[]) => {
    for (const id of ids) t.equal((await postPlant(origin, testToken, plant(id))).status, 200)
  }
  const stop = async ({ child, ended }: Awaited<ReturnType<typeof start>>, code: unknown) => {
    child.kill('SIGTERM')
    t.equal(await ended, code)
  }
  const [first, second] = [await start(), await start()]
  await post(first, [1, 2, 3])
  await post(second, [4])
  rmSync(join(folder, 'plants.db-wal'))
  await stop(first, 0)
  const again = await start()
  await post(again, [5])
  await stop(second, 'SIGKILL')
  await post(again, [6])
  await stop(again, 0)
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  for (let id = 1n; id <= 6n; id++) t.equal(await store.add({ id, name: 'fern' }), 'unchanged')
})
