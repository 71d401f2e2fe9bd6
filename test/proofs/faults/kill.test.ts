// Acknowledged plants are stored after many times kill -9 under load, with one thread and with two.
// `npm run prove -- faults` kills the service 500 times.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { newAccount, sendPlants, settle } from '../../fixtures/load.ts'
import { startPostgres } from '../../fixtures/postgres.ts'
import { seededRandom } from '../../fixtures/random.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { startService } from '../../fixtures/service.ts'

const rounds = Number(process.env.KILL_ROUNDS ?? 8)

async function killRepeatedly (t: Test, folder: string, url: string): Promise<void> {
  const seed = process.env.SEED ?? String(Date.now() % 1e6)
  t.comment(`SEED=${seed}`)
  const random = seededRandom(seed)
  const account = newAccount()
  for (let round = 0; round < rounds; round++) {
    const env = { ACCESS_TOKENS: testToken, DATABASE_URL: url, THREADS: String(1 + round % 2) }
    const { child, origin, ended } = await startService(t, folder, env)
    const known = account.acknowledged.size
    const load = sendPlants(origin, account, 16)
    // A busy machine may need a second for the first plant.
    while (account.acknowledged.size === known) await sleep(1)
    // From the first commits to a state in which SQLite merges its log into the file now and then.
    await sleep(random.below(200))
    child.kill('SIGKILL')
    await ended
    await load.stop()
  }
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  t.ok(account.acknowledged.size >= rounds, 'the service acknowledged plants')
  t.ok(account.sent.size > account.acknowledged.size, 'the kills interrupted some requests')
  await settle(t, account, store)
}

t.setTimeout(60_000 + rounds * 20_000)
t.jobs = 2
// tap keeps its state in the options: each test gets its own.
const options = () => ({ buffered: true, timeout: 60_000 + rounds * 20_000 })

t.test(`acknowledged plants are in SQLite after ${rounds} kills`, options(), async t => {
  const folder = t.testdir()
  await killRepeatedly(t, folder, `sqlite:${join(folder, 'plants.db')}`)
})

t.test(`acknowledged plants are in PostgreSQL after ${rounds} kills`, options(), async t => {
  const server = await startPostgres(t)
  await killRepeatedly(t, t.testdir(), await server.database())
})
