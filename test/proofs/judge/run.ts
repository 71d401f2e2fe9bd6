// npm run prove -- judge: judges the histories of clients of the service while it, its PostgreSQL
// or the power of its disk fails, and while another version takes its place. A control takes away what protects the plants: there the judge
// must find a mistake.
import { setTimeout as sleep } from 'node:timers/promises'
import { exitWith, parseNumber, readOptions } from '../../../scripts/options.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { judge } from './checker.ts'
import { createHistory, type History } from './history.ts'
import { createSend } from './service-client.ts'
import { type OpenStage, preparePowerCuts, type Stage, stages } from './stages.ts'
import { prepareRollingUpgrades, prepareUpgrades } from './upgrades.ts'
import { createChance, runWorkload } from './workload.ts'

const texts = readOptions({
  /** What happens: kills, postgres-kills, failovers, power-cuts, upgrades or rolling-upgrades. */
  faults: { type: 'string', default: 'kills' },
  count: { type: 'string', default: '100' },
  /** The other version of upgrades. By default the last commit of 1.0.0. */
  revision: { type: 'string', default: '4ce8aac' },
  seed: { type: 'string', default: String(Date.now() % 1e9) },
  control: { type: 'boolean', default: false }
})
const count = parseNumber('count', texts.count)
const seed = parseNumber('seed', texts.seed, 0)
const preparations: Record<string, () => OpenStage> = {
  ...stages,
  'power-cuts': preparePowerCuts,
  upgrades: () => prepareUpgrades(texts.revision),
  'rolling-upgrades': () => prepareRollingUpgrades(texts.revision)
}
const prepare = preparations[texts.faults]
if (prepare === undefined) exitWith(`--faults: use ${Object.keys(preparations).join(', ')}.`)
const openStage = prepare()
const canFail = texts.faults === 'failovers' || texts.faults === 'power-cuts'
if (texts.control && !canFail) exitWith('--control: only failovers and power-cuts have one.')

const clients = 16
const chance = createChance(seed)
const answers = { stored: 0, conflict: 0, unknown: 0 }
let mistakes = 0
console.log(`${count} ${texts.faults}, seed ${seed}${texts.control ? ', control' : ''}`)
for (let done = 0; done < count;) {
  const stage = await openStage(chance, texts.control)
  const history = createHistory()
  // Odd ids on both sides of zero and beyond 2^53.
  let firstId = chance() < 0.5 ? -30n : 2n ** 53n - 30n
  const faults = Math.min(stage.faults, count - done)
  try {
    for (let fault = 0; fault < faults; fault++) firstId = await strike(stage, history, firstId)
  } catch (error) {
    history.faults.push((error as Error).message)
  }
  await stage.end()
  done += faults
  report(done, history)
}
if (texts.control && mistakes === 0) console.log('The judge finds nothing in the control.')
const isFound = mistakes > 0
process.exit(isFound === texts.control ? 0 : 1)

/** One fault under load, then a look. Returns the first id of the next load. */
async function strike (stage: Stage, history: History, firstId: bigint): Promise<bigint> {
  history.trust()
  const send = createSend(await stage.start(), testToken, history)
  let isOver = false
  const running = runWorkload(history, send, { clients, chance, firstId, isOver: () => isOver })
  await sleep(20 + chance() * 300)
  await stage.strike(history)
  isOver = true
  const used = await running
  await history.read(stage.look)
  // The last ids stay in use.
  return firstId + used - 3n
}

function report (done: number, history: History): void {
  for (const { writes } of history.operations.values()) {
    for (const { answer } of writes) answers[answer]++
  }
  const verdicts = judge(history)
  mistakes += verdicts.length
  for (const verdict of verdicts.slice(0, 5)) console.log(`  ${verdict}`)
  const { stored, conflict, unknown } = answers
  console.log(`${done} ${texts.faults}: ${stored} stored, ${conflict} conflicts, ` +
    `${unknown} unknown, ${mistakes} mistakes`)
}
