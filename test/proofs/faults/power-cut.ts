// npm run prove -- power-cut: cuts the power of the disk under a loaded service, 200 times, and
// checks after each cut that every acknowledged plant is on the disk. With --control the service
// does not sync, and must lose plants. The cut loses what Linux has not written; a disk that loses
// what it confirmed is beyond this test.
import { cpSync, existsSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseNumber, readOptions } from '../../../scripts/options.ts'
import { openStore } from '../../../src/stores/open.ts'
import {
  type Account, compare, newAccount, scatteredPlant, sendPlants
} from '../../fixtures/load.ts'
import { copyProject, withoutSync } from '../../fixtures/mutation.ts'
import { all } from '../../fixtures/plant-store-suite.ts'
import { makeDisk, prepareForDisk } from '../../fixtures/power.ts'
import { seededRandom } from '../../fixtures/random.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { type Service, startService } from '../../fixtures/service.ts'

const texts = readOptions({
  cuts: { type: 'string', default: '200' },
  seed: { type: 'string', default: String(Date.now() % 1e9) },
  control: { type: 'boolean', default: false }
})
const cuts = parseNumber('cuts', texts.cuts)
prepareForDisk()

/** Each database file lives through this many cuts. */
const cutsPerFile = 20
const clients = 8
const moments = ['startup', 'load', 'checkpoint'] as const
type Moment = typeof moments[number]
const random = seededRandom(texts.seed)
const disk = makeDisk()
let files = 0
/** A power cut can undo the removal of a folder, so each database file has another one. */
const dataFolder = () => join(disk.root, `data-${files}`)
const path = () => join(dataFolder(), 'plants.db')
const main = texts.control ? join(disk.scratch, 'src/main.ts') : resolve('src/main.ts')
if (texts.control) await copyProject(disk.scratch, withoutSync)
const tally = {
  startup: 0,
  load: 0,
  checkpoint: 0,
  busy: 0,
  acknowledged: 0,
  lost: 0,
  changed: 0,
  bad: 0,
  refused: 0
}

const mode = texts.control ? ', control: commits without a sync' : ''
console.log(`${cuts} power cuts, seed ${texts.seed}${mode}`)
let account = newAccount()
/** Kills the service of the last launch(). */
let killService: () => unknown
for (let cut = 1; cut <= cuts; cut++) {
  await cutPower(account)
  if (!await check(account, cut) || cut % cutsPerFile === 0) startOver()
  if (cut % 10 === 0 || cut === cuts) report(cut)
}
judge()

/** Cuts the power of a loaded service at a random moment, and mounts the disk again. */
async function cutPower (account: Account): Promise<void> {
  const before = { sent: account.sent.size, acknowledged: account.acknowledged.size }
  const cut = await disk.arm()
  const starting = launch()
  const loading = starting.then(({ origin }) => {
    return sendPlants(origin, account, clients, scatteredPlant)
  })
  tally[await waitFor(random.pick(moments), starting)]++
  const owed = account.acknowledged.size
  await cut()
  const sent = account.sent.size
  await sleep(random.below(20))
  await killService()
  await (await loading).stop()
  // A response that raced with the cut proves nothing. A plant first sent after the cut cannot be
  // stored.
  const late = new Set([...account.sent.keys()].slice(sent))
  const isOwed = (id: bigint, index: number) => index < owed || late.has(id)
  account.acknowledged = new Set([...account.acknowledged].filter(isOwed))
  tally.acknowledged += account.acknowledged.size - before.acknowledged
  if (sent - before.sent > owed - before.acknowledged) tally.busy++
  disk.unmount()
  disk.mount()
}

function launch (): Promise<Service> {
  const teardown = (kill: () => unknown) => {
    killService = kill
    disk.teardown(kill)
  }
  const env = { ACCESS_TOKENS: testToken, LOG_LEVEL: 'info', DATABASE_URL: `sqlite:${path()}` }
  return startService({ teardown }, disk.scratch, env, [], { main })
}

/** Waits for a random moment of this kind; resolves to the kind that it was. */
async function waitFor (moment: Moment, starting: Promise<Service>): Promise<Moment> {
  if (moment === 'startup') {
    await sleep(random.below(600))
    return moment
  }
  const { origin, output } = await starting
  if (origin === '') throw new Error(`The service does not start: ${output()}`)
  await sleep(random.below(500))
  if (moment === 'load') return moment
  // Only a checkpoint writes to the file itself.
  const modified = () => statSync(path()).mtimeMs
  const before = modified()
  const until = performance.now() + 5000
  while (modified() === before && performance.now() < until) await new Promise(setImmediate)
  const began = modified() !== before
  await sleep(random.below(15))
  return began ? moment : 'load'
}

/**
 * Opens a copy of the files, so that the service itself recovers the original.
 * @returns whether the service can continue with the original
 */
async function check ({ sent, acknowledged }: Account, cut: number): Promise<boolean> {
  const copy = join(disk.scratch, 'copy')
  if (existsSync(dataFolder())) cpSync(dataFolder(), copy, { recursive: true })
  try {
    const store = await openStore(`sqlite:${join(copy, 'plants.db')}`, { maxQueue: 1 })
    const { lost, changed } = compare({ sent, acknowledged }, await all(store))
    await store.close()
    if (lost.length + changed.length === 0) return true
    tally.bad++
    tally.lost += lost.length
    tally.changed += changed.length
    const share = `${lost.length} of ${acknowledged.size} acknowledged plants`
    console.log(`cut ${cut}: ${share} are lost, ${changed.length} were not sent like this`)
  } catch (error) {
    if (acknowledged.size > 0) tally.bad++
    else tally.refused++
    const { message } = error as Error
    console.log(`cut ${cut}, with ${acknowledged.size} acknowledged plants: ${message}`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  return false
}

function startOver (): void {
  rmSync(dataFolder(), { recursive: true, force: true })
  files++
  account = newAccount()
}

function report (cut: number): void {
  const { startup, load, checkpoint, busy, acknowledged, lost, changed, bad, refused } = tally
  console.log(`${cut} cuts: ${startup} within 0.6 s of the start, ${load} under load, ` +
    `${checkpoint} after a checkpoint began; ${busy} with requests in flight.\n` +
    `  ${acknowledged} plants acknowledged, ${lost} lost, ${changed} changed, ` +
    `${bad} cuts with a loss, ${refused} files refused before the first plant`)
}

function judge (): void {
  if (texts.control && tally.lost === 0) {
    console.log('The control lost no plant: this test cannot see a missing sync.')
  }
  if (texts.control ? tally.lost === 0 : tally.bad > 0) process.exitCode = 1
}
