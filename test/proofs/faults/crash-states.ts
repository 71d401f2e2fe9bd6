// npm run prove -- crash-states: records every write and sync of the service, builds thousands of
// states that a crash could have left on the disk (see test/fixtures/crash.ts), and opens each. All
// plants acknowledged before the crash must be there, or the store must refuse the file. With
// --control the syncs of the log do not count: plants must be lost.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseNumber, readOptions, exitWith } from '../../../scripts/options.ts'
import { openStore } from '../../../src/stores/open.ts'
import { createCrashModel } from '../../fixtures/crash.ts'
import { compare } from '../../fixtures/load.ts'
import { all } from '../../fixtures/plant-store-suite.ts'
import { type Random, seededRandom } from '../../fixtures/random.ts'
import { readRecording, record, runs } from '../../fixtures/recording.ts'
import type { Event } from '../../fixtures/trace.ts'

const texts = readOptions({
  states: { type: 'string', default: '5000' },
  seed: { type: 'string', default: String(Date.now() % 1e9) },
  /** The number of the only state to build. */
  state: { type: 'string' },
  /** A folder for the recording: written if it does not exist, and read if it does. */
  recording: { type: 'string' },
  control: { type: 'boolean', default: false }
})
const states = parseNumber('states', texts.states)
const only = texts.state === undefined ? undefined : parseNumber('state', texts.state, 0)
if (only !== undefined && texts.recording === undefined) {
  exitWith('--state needs the --recording that it was found in.')
}
if (process.platform !== 'linux' || spawnSync('strace', ['-V']).status !== 0) {
  exitWith('This needs Linux and strace.')
}

/** States that are checked at the same time. */
const parallel = 2
/** In memory, where a sync costs nothing. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const scratch = mkdtempSync(join(memory, 'plant-store-crash-'))
const folder = resolve(texts.recording ?? join(scratch, 'recording'))
const endings: Array<() => unknown> = []
process.on('exit', () => {
  for (const end of endings) end()
  rmSync(scratch, { recursive: true, force: true })
})
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

if (!existsSync(folder)) await record({ teardown: end => { endings.push(end) } }, scratch, folder)
const { events, ends, sent, sharedMemories } = await readRecording(folder)
const points = pointsByPhase()
/** The number of states by phase. */
const verdicts = Object.fromEntries(Object.keys(points).map(phase => {
  return [phase, { complete: 0, refused: 0, lost: 0, unclear: 0 }]
}))
/** The number of refused states by message, and of those with acknowledged plants. */
const refusals = new Map<string, { states: number, withPlants: number }>()
describe()
await explore()
judge()

/** The points between two events, by what the service was doing. */
function pointsByPhase (): Record<string, number[]> {
  const points: Record<string, number[]> = {}
  let isCheckpoint = false
  for (const [run, { begins }] of runs.entries()) {
    const [begin = 0, end = 0] = [ends[run - 1], ends[run]]
    const first = events.findIndex(({ kind }, index) => index >= begin && kind === 'acknowledge')
    const last = events.findLastIndex(({ kind }, index) => index < end && kind === 'acknowledge')
    for (let point = begin; point < end; point++) {
      let phase: string = isCheckpoint ? 'checkpoint' : 'load'
      if (point <= first) phase = begins
      else if (point > last) phase = 'close'
      const list = points[phase] ??= []
      list.push(point)
      const event = events[point]
      // Only a checkpoint writes to the file itself.
      const isFile = event !== undefined && 'name' in event && event.name === 'plants.db'
      if (isFile) isCheckpoint = event.kind !== 'sync'
    }
  }
  return points
}

function describe (): void {
  const count = (kind: Event['kind']) => events.filter(event => event.kind === kind).length
  const mode = texts.control ? ', control: the syncs of the log do not count' : ''
  console.log(`seed ${texts.seed}${mode}`)
  console.log(`recorded in ${runs.length} runs: ${count('write')} writes, ` +
    `${count('truncate')} truncations, ${count('sync')} syncs of files, ` +
    `${count('syncFolder')} of the folder, ${count('acknowledge')} acknowledgements`)
}

interface State {
  number: number
  phase: string
  point: number
  random: Random
  acknowledged: Set<bigint>
}

/** Builds the states in the order of their points, because the model only moves forward. */
async function explore (): Promise<void> {
  const model = createCrashModel(texts.control ? events.map(ignoreSyncOfLog) : events)
  const running = new Set<Promise<unknown>>()
  const acknowledged = new Set<bigint>()
  let position = 0
  for (const [done, choice] of chooseStates().entries()) {
    if (done > 0 && done % 1000 === 0) console.log(`${done} states checked`)
    for (const event of events.slice(position, choice.point)) {
      if (event.kind === 'acknowledge') acknowledged.add(BigInt(event.name.replace('plant ', '')))
    }
    model.advance(choice.point)
    position = choice.point
    const state = { ...choice, acknowledged: new Set(acknowledged) }
    const checking: Promise<unknown> = check(state, model.crash(choice.random))
      .finally(() => running.delete(checking))
    running.add(checking)
    if (running.size === parallel) await Promise.race(running)
  }
  await Promise.all(running)
}

/** The event of a sync that has no effect. */
function ignoreSyncOfLog (event: Event): Event {
  return event.kind === 'sync' && event.name === 'plants.db-wal' ? { ...event, since: 0 } : event
}

/** The seed and the number of a state decide all about it. Each phase gets the same share. */
function chooseStates (): Array<Omit<State, 'acknowledged'>> {
  const numbers = only === undefined ? Array(states).keys().toArray() : [only]
  return numbers.map(number => {
    const random = seededRandom(`${texts.seed} ${number}`)
    const phase = random.pick(Object.keys(points))
    return { number, random, phase, point: random.pick(points[phase] ?? []) }
  }).sort((a, b) => a.point - b.point)
}

/** Opens a state with the service's own store. */
async function check (state: State, files: Map<string, Buffer>): Promise<void> {
  const { number, phase, point, random, acknowledged } = state
  const data = join(scratch, `state-${number}`)
  const path = join(data, 'plants.db')
  mkdirSync(data)
  for (const [name, bytes] of files) writeFileSync(join(data, name), bytes)
  // Nothing syncs the shared memory: any old version of it may be there.
  if (random.below(2) === 0) cpSync(random.pick(sharedMemories), `${path}-shm`)
  const verdict = verdicts[phase] as NonNullable<typeof verdicts[string]>
  const print = (problem: string) => {
    console.log(`state ${number}, ${phase}, after ${point} of ${events.length} events: ${problem}`)
  }
  try {
    const store = await openStore(`sqlite:${path}`, { maxQueue: 1 })
    const { lost, changed } = compare({ sent, acknowledged }, await all(store).finally(store.close))
    if (lost.length + changed.length === 0) verdict.complete++
    else {
      verdict.lost++
      const share = `${lost.length} of ${acknowledged.size} plants`
      print(`${share} are lost, ${changed.length} were not sent like this`)
    }
  } catch (error) {
    const { message } = error as Error
    const [, reason] = message.split(`The database ${path} cannot be used: `)
    if (reason === undefined) {
      verdict.unclear++
      print(message)
    } else {
      verdict.refused++
      addRefusal(reason.replaceAll(/\d+/g, 'N'), acknowledged.size > 0)
    }
  } finally {
    rmSync(data, { recursive: true })
  }
}

function addRefusal (reason: string, hasPlants: boolean): void {
  const { states, withPlants } = refusals.get(reason) ?? { states: 0, withPlants: 0 }
  refusals.set(reason, { states: states + 1, withPlants: withPlants + Number(hasPlants) })
}

function judge (): void {
  console.table(verdicts)
  for (const [reason, { states, withPlants }] of refusals) {
    const plants = `${withPlants} of them with acknowledged plants`
    console.log(`${states} states refused, ${plants}: ${reason}`)
  }
  let [lost, unclear] = [0, 0]
  for (const verdict of Object.values(verdicts)) {
    lost += verdict.lost
    unclear += verdict.unclear
  }
  if (texts.control) {
    if (lost > 0) return
    console.log('The control lost no plant: this test cannot see a missing sync.')
    process.exitCode = 1
  } else if (lost + unclear > 0) {
    const isKept = texts.recording !== undefined
    const kept = isKept ? folder : join(tmpdir(), `plant-store-crash-${texts.seed}`)
    if (!isKept) cpSync(folder, kept, { recursive: true })
    const options = `--recording ${kept} --seed ${texts.seed} --state NUMBER`
    console.log(`Build one of these states again with ${options}`)
    process.exitCode = 1
  }
}
