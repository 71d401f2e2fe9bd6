// npm run faults:disk-hang: a disk that stops answering for 12 seconds, as a network disk may. Requests are answered
// 503 in time, the service recovers without a restart, and no plant is lost.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../src/stores/open.ts'
import { compare, newAccount, sendPlants } from '../fixtures/load.ts'
import { all } from '../fixtures/plant-store-suite.ts'
import { makeDisk, prepareForDisk } from '../fixtures/power.ts'
import { postPlant, startService, waitForReady } from '../fixtures/service.ts'

const hangMs = 12_000
/** The service answers after 10 s. */
const longestResponseMs = 11_000
const longestNotReadyMs = 4000
const longestRecoveryMs = 3000

prepareForDisk()
const disk = makeDisk()
const url = `sqlite:${join(disk.root, 'data', 'plants.db')}`
const { origin, child, ended } = await startService(disk, disk.scratch, { ACCESS_TOKENS: 'token', DATABASE_URL: url })
const account = newAccount()
const load = sendPlants(origin, account, 8)
await sleep(1000)

disk.freeze()
const thawed = sleep(hangMs).then(disk.thaw)
// The requests in flight have been answered.
await sleep(500)
const began = performance.now()
account.sent.set(-1n, { id: -1n, name: 'x' })
const elapsed = () => Math.round(performance.now() - began)
const posting = postPlant(origin, 'token', '{"id":-1,"name":"x"}')
const alive = await fetch(`${origin}/livez`)
const notReadyMs = await Promise.race([waitForReady(origin, 503), sleep(longestNotReadyMs)]).then(elapsed)
const post = await posting
const responseMs = elapsed()
await thawed
const recoveryBegan = performance.now()
const { size } = account.acknowledged
while (account.acknowledged.size === size && performance.now() - recoveryBegan < 20_000) await sleep(1)
const recoveryMs = Math.round(performance.now() - recoveryBegan)
await Promise.race([waitForReady(origin, 200), sleep(longestRecoveryMs)])
const readyMs = Math.round(performance.now() - recoveryBegan)
await load.stop()
child.kill('SIGTERM')
const exitCode = await ended

const store = await openStore(url, { maxQueue: 1 })
const { lost, changed } = compare(account, await all(store))
await store.close()
console.log(`during a hang of ${hangMs / 1000} s: /livez ${alive.status}, /readyz 503 after ${notReadyMs} ms, ` +
  `POST ${post.status} after ${responseMs} ms`)
console.log(`after it: a plant is acknowledged after ${recoveryMs} ms, /readyz 200 after ${readyMs} ms, ` +
  `exit code ${exitCode}`)
console.log(`${account.acknowledged.size} plants acknowledged, ${lost.length} lost, ${changed.length} changed; ` +
  `responses: ${[...account.statuses].map(([status, count]) => `${count} x ${status}`).join(', ')}`)
const isInTime = notReadyMs < longestNotReadyMs && responseMs < longestResponseMs
const recovers = Math.max(recoveryMs, readyMs) < longestRecoveryMs && exitCode === 0
const isAnswered = post.status === 503 && alive.status === 200
const isKept = lost.length === 0 && changed.length === 0
process.exit(isInTime && recovers && isAnswered && isKept ? 0 : 1)
