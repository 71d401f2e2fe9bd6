// npm run faults:disk-hang: a disk that stops answering for 12 seconds, as a network disk may.
// Requests are answered 503 in time, the service recovers without a restart, and no plant is lost.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOptions } from '../../../scripts/options.ts'
import { openStore } from '../../../src/stores/open.ts'
import { compare, newAccount, sendPlants } from '../../fixtures/load.ts'
import { all } from '../../fixtures/plant-store-suite.ts'
import { makeDisk, prepareForDisk } from '../../fixtures/power.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService, waitForReady } from '../../fixtures/service.ts'

const hangMs = 12_000
/** The service answers after 10 s. */
const limitsMs = { live: 500, notReady: 4000, response: 11_000, recovery: 3000 }

readOptions({})
prepareForDisk()
const disk = makeDisk()
const url = `sqlite:${join(disk.root, 'data', 'plants.db')}`
const { origin, child, ended } = await startService(disk, disk.scratch, { ACCESS_TOKENS: testToken, DATABASE_URL: url })
const account = newAccount()
const load = sendPlants(origin, account, 8)
await sleep(1000)

disk.freeze()
const thawed = sleep(hangMs).then(disk.thaw)
// The responses that were on their way have arrived.
await sleep(500)
account.sent.set(-1n, { id: -1n, name: 'x' })
const during = await Promise.all([
  time('/livez 200', limitsMs.live, waitForStatus(200, fetch(`${origin}/livez`))),
  time('/readyz 503', limitsMs.notReady, waitForReady(origin, 503)),
  time('POST 503', limitsMs.response, waitForStatus(503, postPlant(origin, testToken, '{"id":-1,"name":"x"}')))
])
await thawed
const afterwards = await Promise.all([
  time('a plant acknowledged', limitsMs.recovery, waitForPlant()),
  time('/readyz 200', limitsMs.recovery, waitForReady(origin, 200))
])
await load.stop()
child.kill('SIGTERM')
const exitCode = await ended

const store = await openStore(url, { maxQueue: 1 })
const { lost, changed } = compare(account, await all(store))
await store.close()
console.log(`during a hang of ${hangMs / 1000} s: ${during.map(({ text }) => text).join(', ')}`)
console.log(`afterwards: ${afterwards.map(({ text }) => text).join(', ')}, exit code ${exitCode}`)
console.log(`${account.acknowledged.size} plants acknowledged, ${lost.length} lost, ${changed.length} changed; ` +
  `responses: ${[...account.statuses].map(([status, count]) => `${count} x ${status}`).join(', ')}`)
const isInTime = [...during, ...afterwards].every(({ inTime }) => inTime)
process.exit(isInTime && exitCode === 0 && lost.length + changed.length === 0 ? 0 : 1)

/** Measures a promise; whether it resolves within the limit. */
async function time (what: string, limitMs: number, promise: Promise<unknown>) {
  const began = performance.now()
  const inTime = await Promise.race([promise.then(() => true), sleep(limitMs, false)])
  const ms = Math.round(performance.now() - began)
  return { inTime, text: inTime ? `${what} after ${ms} ms` : `no ${what} within ${limitMs} ms` }
}

/** Never resolves for another status, so that time() reports it as missing. */
async function waitForStatus (status: number, response: Promise<Response>): Promise<void> {
  if ((await response).status !== status) await Promise.withResolvers<void>().promise
}

async function waitForPlant (): Promise<void> {
  const { size } = account.acknowledged
  while (account.acknowledged.size === size) await sleep(1)
}
