// No 200 leaves before the sync that covers it, seen from outside by strace, over more than 1,000 plants; and a sync that
// fails acknowledges nothing. It needs strace, which npm does not bring: `npm run faults` runs it, `npm test` does not.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { openStore } from '../../src/stores/open.ts'
import { newAccount, sendPlants, settle } from '../fixtures/load.ts'
import { postPlant, startService } from '../fixtures/service.ts'
import type { Service } from '../fixtures/service.ts'

await promisify(execFile)('strace', ['-V']).catch(() => t.bailout('strace is not there: install it (apt install strace) to run this'))

/** Starts the service under strace, which is told what to do by `options`. */
function traced (t: Test, folder: string, options: string[]): Promise<Service> {
  const env = { ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` }
  return startService(t, folder, env, [], { command: ['env', '-u', 'NODE_OPTIONS', 'strace', '-f', ...options, process.execPath] })
}

/** strace passes no signal on: the service itself is its first child. */
async function serviceOf ({ child }: Service): Promise<number> {
  return Number((await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim().split(' ')[0])
}

async function reaches (condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 20))
}

t.test('every 200 leaves after the end of a sync that began after its plant was written', { timeout: 120_000 }, async t => {
  const folder = t.testdir()
  const trace = join(folder, 'trace')
  const service = await traced(t, folder, ['-y', '-s', '9000', '-o', trace, '-e', 'trace=pwrite64,write,writev,sendto,sendmsg,fsync,fdatasync'])
  const account = newAccount()
  const load = sendPlants(service.origin, account, 16)
  await reaches(() => account.acknowledged.size >= 1500)
  await load.stop()
  process.kill(await serviceOf(service), 'SIGTERM')
  await service.ended

  const written = new Set<string>()
  const synced = new Set<string>()
  const early: string[] = []
  const begun = new Map<string, { call: string, covers: string[] }>()
  let answers = 0
  for (const line of (await readFile(trace, 'latin1')).split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/s.exec(line) ?? []
    const isEnd = text.startsWith('<... ')
    const call = isEnd ? begun.get(thread)?.call ?? '' : text
    if (text.endsWith('<unfinished ...>')) begun.set(thread, { call: text, covers: [...written] })
    const covers = isEnd ? begun.get(thread)?.covers ?? [] : [...written]
    const isDone = !text.endsWith('<unfinished ...>')
    if (isDone && /^pwrite64\(\d+<[^>]*plants\.db-wal>/.test(call)) for (const [, id = ''] of call.matchAll(/plant (\d+)/g)) written.add(id)
    if (isDone && /^f(?:data)?sync\(\d+<[^>]*plants\.db-wal>/.test(call) && / = 0$/.test(text)) for (const id of covers) synced.add(id)
    if (!isEnd && /^(?:write|writev|sendto|sendmsg)\(\d+<(?:socket|TCP)/.test(call)) {
      for (const [, id = ''] of call.matchAll(/HTTP\/1\.1 200 OK.*?\{\\"name\\":\\"plant (\d+)\\"/gs)) {
        answers++
        if (!synced.has(id)) early.push(id)
      }
    }
  }
  t.ok(answers >= 1000, `${answers} answers were seen`)
  t.strictSame(early, [], 'none was early')
})

t.test('a sync that fails acknowledges nothing, and the next ones do', { timeout: 60_000 }, async t => {
  const folder = t.testdir()
  const service = await traced(t, folder, ['-o', '/dev/null', '-P', join(folder, 'plants.db-wal'), '-e', 'inject=fsync,fdatasync:error=EIO:when=20..25'])
  const account = newAccount()
  const load = sendPlants(service.origin, account, 4)
  await reaches(() => account.statuses.has(503) && account.acknowledged.size > 200)
  await load.stop()
  t.equal((await fetch(`${service.origin}/readyz`)).status, 200, 'without a restart')
  process.kill(await serviceOf(service), 'SIGKILL')
  await service.ended
  const store = await openStore(`sqlite:${join(folder, 'plants.db')}`, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})

t.test('while syncs fail every plant is 503, and the service is not ready', { timeout: 60_000 }, async t => {
  const folder = t.testdir()
  const service = await traced(t, folder, ['-o', '/dev/null', '-P', join(folder, 'plants.db-wal'), '-e', 'inject=fsync,fdatasync:error=EIO:when=20+'])
  const account = newAccount()
  const load = sendPlants(service.origin, account, 4)
  await reaches(() => (account.statuses.get(503) ?? 0) > 20)
  const { size } = account.acknowledged
  t.equal((await fetch(`${service.origin}/readyz`)).status, 503)
  await load.stop()
  t.equal((await postPlant(service.origin, 'token', '{"id":-1,"name":"x"}')).status, 503)
  t.ok(account.acknowledged.size <= size + 4)
  process.kill(await serviceOf(service), 'SIGKILL')
  await service.ended
  account.sent.set(-1n, { id: -1n, name: 'x' })
  const store = await openStore(`sqlite:${join(folder, 'plants.db')}`, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})
