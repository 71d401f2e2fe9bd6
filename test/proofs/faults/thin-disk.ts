// npm run prove -- thin-disk: a thin-provisioned disk runs out of space under a loaded service, so
// that syncs of the log and of the file fail although the file system has space. After a mount every
// acknowledged plant is there. With --control the service takes a failed sync for any other error: it
// opens the file again and goes on. It must lose plants.
import { existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseNumber, readOptions } from '../../../scripts/options.ts'
import { openStore } from '../../../src/stores/open.ts'
import { compare, newAccount, scatteredPlant, sendPlants } from '../../fixtures/load.ts'
import { copyProject, type Replacement } from '../../fixtures/mutation.ts'
import { all } from '../../fixtures/plant-store-suite.ts'
import { makeDisk, prepareForDisk } from '../../fixtures/power.ts'
import { seededRandom } from '../../fixtures/random.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { startService } from '../../fixtures/service.ts'

const texts = readOptions({
  rounds: { type: 'string', default: '30' },
  seed: { type: 'string', default: String(Date.now() % 1e9) },
  control: { type: 'boolean', default: false }
})
const rounds = parseNumber('rounds', texts.rounds)
prepareForDisk()

const checkpoint = 'src/stores/sqlite/checkpoint.ts'
const unawareOfSyncs: readonly Replacement[] = [
  { file: checkpoint, text: 'throw isFailedSync(error) ? unsynced(error as Error) : error', by: 'throw error' },
  { file: checkpoint, text: 'throw unsynced(cause as Error)', by: 'throw cause' }
]
const random = seededRandom(texts.seed)
const disk = makeDisk(192 * 1024 * 1024)
const main = texts.control ? join(disk.scratch, 'src/main.ts') : resolve('src/main.ts')
if (texts.control) await copyProject(disk.scratch, unawareOfSyncs)
const tally = { acknowledged: 0, failedSyncs: 0, refusedStarts: 0, lost: 0, changed: 0, bad: 0 }

console.log(`${rounds} rounds, seed ${texts.seed}${texts.control ? ', control' : ''}`)
for (let round = 1; round <= rounds; round++) await runRound(round)
const { acknowledged, failedSyncs, refusedStarts, lost, changed, bad } = tally
console.log(`${acknowledged} plants acknowledged, ${lost} lost, ${changed} changed; of ${rounds} rounds ` +
  `${bad} lost plants or their file, ${failedSyncs} had a failed sync, ${refusedStarts} refused a start before the mount`)
if (texts.control && bad === 0) console.log('The control lost no plant: this test cannot see an ignored sync.')
process.exit((texts.control ? bad === 0 : bad > 0) ? 1 : 0)

/** Each round has a database of its own: its log grows, or is written again from its start. */
async function runRound (round: number): Promise<void> {
  const path = join(disk.root, `data-${round}`, 'plants.db')
  const env = { ACCESS_TOKENS: testToken, LOG_LEVEL: 'info', DATABASE_URL: `sqlite:${path}` }
  const start = () => startService(disk, disk.scratch, env, [], { main })
  const { origin, child, ended, output } = await start()
  const account = newAccount()
  const load = sendPlants(origin, account, 8, scatteredPlant, 1)
  await sleep(random.below(3000))
  disk.fill()
  await sleep(500)
  const isFreedFirst = random.below(2) === 0
  if (isFreedFirst) disk.free()
  await sleep(500)
  await load.stop()
  child.kill('SIGTERM')
  await ended
  if (output().includes('may not be on the disk')) tally.failedSyncs++
  if (existsSync(`${path}-unsynced`)) {
    const next = await start()
    if (next.origin === '') tally.refusedStarts++
    next.child.kill('SIGTERM')
    await next.ended
  }
  disk.unmount()
  if (!isFreedFirst) disk.free()
  disk.mount()
  rmSync(`${path}-unsynced`, { force: true })
  tally.acknowledged += account.acknowledged.size
  try {
    const store = await openStore(`sqlite:${path}`, { maxQueue: 1 })
    const { lost, changed } = compare(account, await all(store))
    await store.close()
    tally.lost += lost.length
    tally.changed += changed.length
    if (lost.length + changed.length > 0) tally.bad++
  } catch (error) {
    tally.bad++
    console.log(`round ${round}: ${(error as Error).message}`)
  }
  rmSync(join(path, '..'), { recursive: true })
  disk.trim()
}
