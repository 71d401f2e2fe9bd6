// The judge in short: it finds eight broken stores, and its rules are those of a search over all
// orders. `npm run prove -- judge` runs it against the service in kills, power cuts and failovers.
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { findMistake, judge } from './checker.ts'
import { type Answer, contentOf, createHistory, type Operations } from './history.ts'
import { type Break, breaks, createModelStore } from './model-store.ts'
import { createChance, runWorkload } from './workload.ts'

const seed = Date.now() % 1e9
t.comment(`seed ${seed}`)

/** Runs the workload on a store in memory that crashes, until the judge finds a mistake. */
async function runModel (broken: Break | undefined, rounds: number): Promise<string[]> {
  const chance = createChance(seed)
  for (let round = 1; round <= rounds; round++) {
    const history = createHistory()
    const store = createModelStore(chance, broken)
    // Beyond 2^53, where doubles have no odd numbers.
    let firstId = 2n ** 60n
    for (let crash = 0; crash < 3; crash++) {
      let writes = 0
      const send: typeof store.send = plant => {
        writes++
        if (writes === 60) store.crash()
        return store.send(plant)
      }
      const isOver = () => writes >= 100
      const running = runWorkload(history, send, { clients: 8, chance, firstId, isOver })
      await history.read(store.look)
      // The ids that were in use stay in use.
      firstId += await running - 3n
    }
    store.crash()
    await history.read(store.look)
    const verdicts = judge(history)
    if (verdicts.length > 0) return verdicts
  }
  return []
}

t.test('the judge finds nothing in a store that keeps its promises', async t => {
  t.strictSame(await runModel(undefined, 10), [])
})

for (const broken of breaks) {
  t.test(`the judge finds a broken store: ${broken}`, async t => {
    const [verdict] = await runModel(broken, 1000)
    t.type(verdict, 'string')
    t.comment(verdict)
  })
}

t.test('the judge finds nothing in SQLite', async t => {
  const store = await openStore(`sqlite:${join(t.testdir(), 'plants.db')}`, { maxQueue: 100 })
  const history = createHistory()
  let writes = 0
  const send = async ({ id, name, tag }: { id: bigint, name: string, tag: string | null }) => {
    writes++
    const outcome = await store.add(tag === null ? { id, name } : { id, name, tag })
    return outcome === 'conflict' ? 'conflict' : 'stored'
  }
  const workload = { clients: 8, chance: createChance(seed), firstId: -10n }
  await runWorkload(history, send, { ...workload, isOver: () => writes >= 300 })
  await history.read(async () => {
    const plants = await store.page(-100n, 1000)
    return new Map(plants.map(({ id, name, tag }) => [id, contentOf(name, tag)]))
  })
  await store.close()
  t.ok(history.operations.size > 10)
  t.strictSame(judge(history), [])
})

t.test('the rules of the judge are those of a search over all orders', async t => {
  const chance = createChance(seed)
  let explained = 0
  const histories = 4000
  for (let index = 0; index < histories; index++) {
    const operations = randomOperations(chance)
    const isExplained = canExplain(stepsOf(operations), undefined)
    if (isExplained) explained++
    if ((findMistake(operations) === undefined) === isExplained) continue
    t.fail(`the search says ${isExplained}`, { operations, mistake: findMistake(operations) })
    return
  }
  t.ok(explained > histories / 20 && explained < histories * 0.95, `${explained} are explained`)
})

/** Up to five operations of two contents that overlap at random. */
function randomOperations (chance: () => number): Operations {
  const operations: Operations = { writes: [], reads: [] }
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(chance() * items.length)] as Item
  for (let count = 1 + Math.floor(chance() * 5); count > 0; count--) {
    // Fractions: no two moments are the same.
    const began = chance()
    const ended = began + chance() * (1 - began)
    if (chance() < 0.3) {
      operations.reads.push({ content: pick(['a', 'b', undefined]), began, ended })
      continue
    }
    const answer: Answer = pick(['stored', 'conflict', 'unknown'])
    const end = answer === 'unknown' ? Infinity : ended
    operations.writes.push({ content: pick(['a', 'b']), answer, began, ended: end })
  }
  return operations
}

interface Step {
  began: number
  ended: number
  /** Whether it may never take effect. */
  isOptional: boolean
  /** What the register holds after it; null when its answer is not that of a register. */
  apply: (register: string | undefined) => string | undefined | null
}

function stepsOf ({ writes, reads }: Operations): Step[] {
  const steps: Step[] = []
  for (const { content, answer, began, ended } of writes) {
    const apply = (register = content) => {
      const right = register === content ? 'stored' : 'conflict'
      return answer === 'unknown' || answer === right ? register : null
    }
    steps.push({ began, ended, isOptional: answer === 'unknown', apply })
  }
  for (const { content, began, ended } of reads) {
    const apply = (register?: string) => register === content ? register : null
    steps.push({ began, ended, isOptional: false, apply })
  }
  return steps
}

/** Whether some order of the steps, in which none comes before one that ended earlier, is right. */
function canExplain (steps: Step[], register: string | undefined): boolean {
  if (steps.every(({ isOptional }) => isOptional)) return true
  return steps.some((step, index) => {
    if (steps.some(other => other.ended < step.began)) return false
    const next = step.apply(register)
    return next !== null && canExplain(steps.toSpliced(index, 1), next)
  })
}
