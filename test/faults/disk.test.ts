// Disks that are full or may not be written: 503, not ready, nothing acknowledged that is not kept, and back without a restart.
import { execFile } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { openStore } from '../../src/stores/open.ts'
import { newAccount, sendPlants, settle } from '../fixtures/load.ts'
import { postPlant, startService } from '../fixtures/service.ts'

const run = promisify(execFile)

const isRoot = process.getuid?.() === 0
/** Without what tap loads into child processes: it ends them at SIGXFSZ, which Node ignores, and writes files of its own. */
const alone = ['env', '-u', 'NODE_OPTIONS']
/** Root may write anywhere, so the service then runs as somebody else. */
const nobody = { command: [...alone, process.execPath], ...isRoot && { uid: 65534, gid: 65534 } }

/** A folder of the service's user. */
function folderOf (t: Test): string {
  const folder = join(t.testdir(), 'data')
  mkdirSync(folder)
  if (isRoot) chownSync(folder, 65534, 65534)
  return folder
}

t.test('a disk that is full is 503 and not ready; with room again plants are kept, without a restart', async t => {
  const folder = folderOf(t)
  const url = `sqlite:${join(folder, 'plants.db')}`
  // No file may grow beyond 256 KiB: to SQLite that is a full disk.
  const { child, origin, ended } = await startService(t, folder, { ACCESS_TOKENS: 'token', DATABASE_URL: url }, [], {
    command: [...alone, 'prlimit', `--fsize=${256 * 1024}:unlimited`, process.execPath]
  })
  const account = newAccount()
  const load = sendPlants(origin, account, 16)
  while (!account.statuses.has(503)) await new Promise(resolve => setTimeout(resolve, 20))
  await load.stop()
  t.ok(account.acknowledged.size > 0, 'some found room')
  t.strictSame(new Set(account.statuses.keys()), new Set([200, 503]))

  // A small plant may still find room where the log was folded into the file; many large ones do not.
  const large = (id: number) => ({ id: BigInt(id), name: 'x'.repeat(60_000) })
  const post = async (id: number) => {
    account.sent.set(BigInt(id), large(id))
    const response = await postPlant(origin, 'token', `{"id":${id},"name":"${large(id).name}"}`)
    if (response.status === 200) account.acknowledged.add(BigInt(id))
    return response
  }
  let ready = 200
  let refused = await post(-1)
  for (let id = -2; id > -50 && (refused.status === 200 || ready === 200); id--) {
    refused = await post(id)
    ready = (await fetch(`${origin}/readyz`)).status
  }
  t.strictSame([refused.status, refused.headers.get('retry-after'), await refused.json()], [503, '1', { error: 503, message: 'The plant could not be stored. Sending it again is safe.' }])
  t.equal(ready, 503)
  t.equal((await fetch(`${origin}/livez`)).status, 200)

  await run('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:unlimited'])
  t.equal((await post(-100)).status, 200)
  t.equal((await fetch(`${origin}/readyz`)).status, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})

t.test('a directory or a file that may not be written is told at start, and left as it is', async t => {
  const folder = folderOf(t)
  const env = { ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` }
  const first = await startService(t, folder, env, [], nobody)
  t.equal((await postPlant(first.origin, 'token', '{"id":1,"name":"x"}')).status, 200)
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
  const before = readFileSync(join(folder, 'plants.db'))

  chmodSync(join(folder, 'plants.db'), 0o444)
  const file = await startService(t, folder, env, [], nobody)
  t.equal(await file.ended, 1)
  t.match(file.output(), /^The database .*plants\.db cannot be used: attempt to write a readonly database\.\n$/)

  chmodSync(join(folder, 'plants.db'), 0o644)
  chmodSync(folder, 0o555)
  const directory = await startService(t, folder, env, [], nobody)
  t.equal(await directory.ended, 1)
  t.match(directory.output(), /^The database .*plants\.db cannot be used: .+\.\n$/)
  const none = await startService(t, folder, { ...env, DATABASE_URL: `sqlite:${join(folder, 'new', 'plants.db')}` }, [], nobody)
  t.equal(await none.ended, 1)
  t.match(none.output(), /^The database .*new\/plants\.db cannot be used: EACCES.+\.\n$/)
  chmodSync(folder, 0o755)
  t.ok(readFileSync(join(folder, 'plants.db')).equals(before))
})

t.test('a directory that may no longer be written, while the service runs, costs nothing that was acknowledged', async t => {
  const folder = folderOf(t)
  const env = { ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` }
  const { child, origin, ended } = await startService(t, folder, env, [], nobody)
  const account = newAccount()
  const load = sendPlants(origin, account, 8)
  while (account.acknowledged.size < 100) await new Promise(resolve => setTimeout(resolve, 10))
  chmodSync(folder, 0o555)
  const before = account.acknowledged.size
  while (account.acknowledged.size + (account.statuses.get(503) ?? 0) < before + 500) await new Promise(resolve => setTimeout(resolve, 10))
  await load.stop()
  child.kill('SIGKILL')
  await ended
  chmodSync(folder, 0o755)
  const store = await openStore(`sqlite:${resolve(folder, 'plants.db')}`, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})
