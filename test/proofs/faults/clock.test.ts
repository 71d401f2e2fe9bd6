// The clock of the machine is set back by an hour while the service runs.
import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { newAccount, sendPlants, settle } from '../../fixtures/load.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService, waitForReady } from '../../fixtures/service.ts'

const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')
const skip = library === undefined && 'libfaketime is not installed: apt install faketime'

t.test('the service does not notice that the clock is set back by an hour', { skip }, async t => {
  const folder = t.testdir({ offset: '+0' })
  const databaseUrl = `sqlite:${join(folder, 'plants.db')}`
  const { child, ended, origin } = await startService(t, folder, {
    ACCESS_TOKENS: testToken,
    DATABASE_URL: databaseUrl,
    RATE_LIMIT: '100000',
    LD_PRELOAD: library ?? '',
    FAKETIME_TIMESTAMP_FILE: join(folder, 'offset'),
    FAKETIME_NO_CACHE: '1',
    // A clock that is set moves the time of day alone.
    FAKETIME_DONT_FAKE_MONOTONIC: '1'
  })
  const dateOf = ({ headers }: Response) => Date.parse(headers.get('date') ?? '')
  const account = newAccount()
  const load = sendPlants(origin, account, 8)
  const acknowledge = async (count: number) => {
    while (account.acknowledged.size < count) await sleep(5)
  }
  await acknowledge(100)
  t.ok(Math.abs(dateOf(await fetch(`${origin}/livez`)) - Date.now()) < 60_000)
  writeFileSync(join(folder, 'offset'), '-1h')
  while (dateOf(await fetch(`${origin}/livez`)) > Date.now() - 3_500_000) await sleep(100)
  await acknowledge(account.acknowledged.size + 100)
  await waitForReady(origin, 200)
  await load.stop()
  t.strictSame([...account.statuses.keys()], [200])
  t.equal((await postPlant(origin, testToken, '{"id":0,"name":"another"}')).status, 409)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const store = await openStore(databaseUrl, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})
