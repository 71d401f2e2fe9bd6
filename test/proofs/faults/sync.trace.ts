// strace shows from outside that no 200 leaves before the sync that covers its plant, over more
// than 1,000 plants, and that a failed sync acknowledges nothing. npm does not install strace, so
// only `npm run prove -- faults` runs this file.
import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import {
  type Account, newAccount, scatteredPlant, sendPlants, settle
} from '../../fixtures/load.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, type Service, startService, waitForReady } from '../../fixtures/service.ts'
import { tracedProcess } from '../../fixtures/trace.ts'

await promisify(execFile)('strace', ['-V']).catch(() => {
  t.bailout('This test needs strace: install it, for example with apt install strace')
})

const databaseIn = (folder: string): string => `sqlite:${join(folder, 'plants.db')}`

/** Starts the service under strace with these options. */
function startTraced (t: Test, folder: string, options: string[]): Promise<Service> {
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: databaseIn(folder) }
  const command = ['env', '-u', 'NODE_OPTIONS', 'strace', '-f', ...options, process.execPath]
  return startService(t, folder, env, [], { command })
}

/** Options of strace that make syncs of a file fail. @param when the numbers of these syncs */
function failSyncs (file: string, when: string): string[] {
  return ['-o', '/dev/null', '-P', file, '-e', `inject=fsync,fdatasync:error=EIO:when=${when}`]
}

async function killService (service: Service, signal: NodeJS.Signals): Promise<void> {
  process.kill(tracedProcess(service), signal)
  await service.ended
}

async function waitUntil (condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 20))
}

async function assertNothingLost (t: Test, account: Account, folder: string): Promise<void> {
  const store = await openStore(databaseIn(folder), { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
}

/** As after a mount. */
function forgetFailure (t: Test, folder: string): void {
  const mark = join(folder, 'plants.db-unsynced')
  t.ok(existsSync(mark))
  rmSync(mark)
}

const writesLog = /^pwrite64\(\d+<[^>]*plants\.db-wal>/
const syncsLog = /^f(?:data)?sync\(\d+<[^>]*plants\.db-wal>/
const sends = /^(?:write|writev|sendto|sendmsg)\(\d+<(?:socket|TCP)/
const response = /HTTP\/1\.1 200 OK.*?\{\\"name\\":\\"plant (\d+)\\"/gs

/**
 * Counts the 200 responses in a trace. `early` has the ids of plants whose response left before
 * their sync ended.
 */
function readTrace (trace: string): { responses: number, early: string[] } {
  const written = new Set<string>()
  const synced = new Set<string>()
  const early: string[] = []
  let responses = 0
  // When threads overlap, strace writes a call as `call <unfinished ...>` and later `<... call
  // resumed> = result`.
  const unfinished = new Map<string, { call: string, covered: string[] }>()
  for (const line of trace.split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/s.exec(line) ?? []
    const isResumed = text.startsWith('<... ')
    const isFinished = !text.endsWith('<unfinished ...>')
    // A sync covers the plants that were written before it began.
    const { call, covered } = isResumed
      ? unfinished.get(thread) ?? { call: '', covered: [] }
      : { call: text, covered: [...written] }
    if (!isFinished) unfinished.set(thread, { call, covered })
    if (isFinished && writesLog.test(call)) for (const [, id = ''] of call.matchAll(/plant (\d+)/g)) written.add(id)
    if (isFinished && syncsLog.test(call) && / = 0$/.test(text)) for (const id of covered) synced.add(id)
    if (!isResumed && sends.test(call)) {
      for (const [, id = ''] of call.matchAll(response)) {
        responses++
        if (!synced.has(id)) early.push(id)
      }
    }
  }
  return { responses, early }
}

const options = { timeout: 120_000 }
t.test('each 200 leaves after the end of a sync that began after its plant was written', options, async t => {
  const folder = t.testdir()
  const trace = join(folder, 'trace')
  const calls = 'trace=pwrite64,write,writev,sendto,sendmsg,fsync,fdatasync'
  const service = await startTraced(t, folder, ['-y', '-s', '9000', '-o', trace, '-e', calls])
  const account = newAccount()
  const load = sendPlants(service.origin, account, 16)
  await waitUntil(() => account.acknowledged.size >= 1500)
  await load.stop()
  await killService(service, 'SIGTERM')
  const { responses, early } = readTrace(await readFile(trace, 'latin1'))
  t.ok(responses >= 1000, `the trace has ${responses} responses`)
  t.strictSame(early, [], 'no response left before its sync')
})

t.test('a failed sync of the log acknowledges nothing, and the syncs after it do', { timeout: 60_000 }, async t => {
  const folder = t.testdir()
  const service = await startTraced(t, folder, failSyncs(join(folder, 'plants.db-wal'), '20'))
  const account = newAccount()
  const load = sendPlants(service.origin, account, 4)
  await waitUntil(() => account.statuses.has(503))
  const { size } = account.acknowledged
  await waitUntil(() => account.acknowledged.size > size + 200)
  await load.stop()
  await waitForReady(service.origin, 200)
  await killService(service, 'SIGKILL')
  await assertNothingLost(t, account, folder)
})

t.test('after a failed sync of the file in a checkpoint nothing is acknowledged', { timeout: 60_000 }, async t => {
  const folder = t.testdir()
  // The first two are at the start; then each checkpoint has one.
  const service = await startTraced(t, folder, failSyncs(join(folder, 'plants.db'), '4'))
  const account = newAccount()
  const load = sendPlants(service.origin, account, 4, scatteredPlant)
  await waitUntil(() => (account.statuses.get(503) ?? 0) > 20)
  const { size } = account.acknowledged
  await waitUntil(() => (account.statuses.get(503) ?? 0) > 40)
  await load.stop()
  t.equal(account.acknowledged.size, size)
  await waitForReady(service.origin, 503)
  await killService(service, 'SIGKILL')
  forgetFailure(t, folder)
  await assertNothingLost(t, account, folder)
})

t.test('while syncs fail the service answers 503 and is not ready', { timeout: 60_000 }, async t => {
  const folder = t.testdir()
  const service = await startTraced(t, folder, failSyncs(join(folder, 'plants.db-wal'), '20+'))
  const account = newAccount()
  const load = sendPlants(service.origin, account, 4)
  await waitUntil(() => (account.statuses.get(503) ?? 0) > 20)
  const { size } = account.acknowledged
  await waitForReady(service.origin, 503)
  await load.stop()
  t.equal((await postPlant(service.origin, testToken, '{"id":-1,"name":"x"}')).status, 503)
  t.ok(account.acknowledged.size <= size + 4)
  await killService(service, 'SIGKILL')
  // The service refused this plant, but may have stored it.
  account.sent.set(-1n, { id: -1n, name: 'x' })
  // The checkpoint after a failed commit syncs the log, too.
  forgetFailure(t, folder)
  await assertNothingLost(t, account, folder)
})
