// A service instance as its callers see it: the real group commit and the real engine, under
// observation.
import type { NewPlant, Outcome } from '../../../src/plants/plant-store.ts'
import { groupCommit } from '../../../src/stores/group-commit.ts'
import type { Engine } from '../../../src/stores/engine.ts'
import type { StatementRunner } from '../../../src/stores/postgres/statements.ts'
import type { Process } from './process.ts'
import { type Properties, textOf } from './properties.ts'
import type { World } from './world.ts'

/**
 * docs/use/postgresql.md promises a response after about 8 seconds. The rest is for late timers and
 * turns.
 */
const callMs = 8000 + 100
/** The longest interval between two tries: a call may end that much before its deadline. */
const longestIntervalMs = 400
/** Closing waits for a connection that is being opened, and for a request to stop a statement. */
const closeMs = 3000

export interface Service {
  name: string
  process: Process
  isClosed: boolean
  add: (plant: NewPlant) => Promise<Outcome | Refusal>
  read: (kind: 'page' | 'count' | 'check') => Promise<void>
  close: () => Promise<void>
}

const refusals = ['failed', 'overloaded', 'closed'] as const
type Refusal = typeof refusals[number]

export interface ServiceOptions {
  name: string
  maxQueue: number
  /** How many plants a batch holds at least, if so many wait. */
  batchPlants: number
  /** PostgreSQL retries; other engines may fail at once. */
  isPostgres: boolean
  hadStandbySince: (moment: number) => boolean
}

type OpenEngine = (observe: (runner: StatementRunner) => StatementRunner) => Engine

export function startService (
  world: World,
  properties: Properties,
  process: Process,
  options: ServiceOptions,
  openEngine: OpenEngine
): Service {
  const { name, maxQueue, batchPlants, isPostgres, hadStandbySince } = options
  const { clock, runningMs } = process
  const pending = new Set<{ what: string }>()
  /** Plants that wait for their outcome; the queued ones are in no batch yet. */
  let waiting = 0
  let queued = 0
  const engine = watchEngine(
    world, properties, process, options, openEngine, plants => { queued -= plants }
  )
  const store = groupCommit(engine, { maxQueue, clock })

  /**
   * The time within which a plant that is added now must have its outcome: the batch in flight,
   * then its own.
   */
  const boundMs = () => (2 + Math.floor(waiting / batchPlants)) * callMs

  async function track<Result> (
    what: string, call: () => Promise<Result>, withinMs: number
  ): Promise<Result> {
    const key = { what }
    pending.add(key)
    try {
      return await properties.settles(`${name} ${what}`, call(), { withinMs, runningMs })
    } finally {
      pending.delete(key)
    }
  }

  const service: Service = {
    name,
    process,
    isClosed: false,
    async add (plant) {
      const text = textOf(plant)
      const expected = service.isClosed ? 'closed' : queued >= maxQueue ? 'overloaded' : undefined
      const withinMs = expected === undefined ? boundMs() : 0
      if (expected === undefined) queued++
      waiting++
      const result = await track(`add ${text}`, () => store.add(plant), withinMs).catch(refusalOf)
      waiting--
      world.note(() => `${name}: ${text} is ${result}`)
      if (isRefusal(result)) world.count(`refusal: ${result}`)
      else properties.onOutcome(plant, result)
      if (result === expected) return result
      if (expected === 'closed') properties.fail('safety', `${name} took ${text} after close()`)
      if (expected === 'overloaded') {
        properties.fail(
          'liveness', `${name} took ${text} into a full queue`
        )
      }
      if (result === 'overloaded') properties.fail('liveness', `${name} had room for ${text}`)
      return result
    },
    async read (kind) {
      const began = clock.now()
      const calls = {
        page: () => store.page(0n, 10), count: () => store.count(), check: () => store.check()
      }
      // Other engines than PostgreSQL finish the batch in flight first.
      const withinMs = isPostgres ? callMs : 2 * callMs
      const isOk = await track<unknown>(kind, calls[kind], withinMs).then(() => true, () => false)
      world.note(() => `${name}: ${kind} ${isOk ? 'succeeds' : 'fails'}`)
      world.count(`call: ${kind} ${isOk ? 'succeeds' : 'fails'}`)
      if (kind === 'check' && isOk && !hadStandbySince(began)) {
        properties.fail('safety', `${name} check succeeds without a standby`)
      }
    },
    async close () {
      service.isClosed = true
      const before = [...pending]
      world.note(() => `${name}: close() while ${before.length} calls are pending`)
      world.count(`call: close() ${before.length > 0 ? 'with' : 'without'} pending calls`)
      await properties.settles(
        `${name} close()`, store.close(), { withinMs: boundMs() + closeMs, runningMs }
      )
      world.note(() => `${name}: closed`)
      // The callers that close() has finished get their outcomes first.
      await world.sleep(0)
      for (const key of before) {
        if (pending.has(key)) {
          properties.fail(
            'liveness', `${name} closed before the end of ${key.what}`
          )
        }
      }
    }
  }
  return service
}

/** The service acknowledges everything else, also what is no outcome. */
function isRefusal (result: Outcome | Refusal): result is Refusal {
  return refusals.some(refusal => refusal === result)
}

function refusalOf (error: Error): Refusal {
  if (error.message.includes('overloaded')) return 'overloaded'
  return error.message.includes('shutting down') ? 'closed' : 'failed'
}

/** The tries of one batch. */
interface Batch { began: number, lastingError: { message: string, at: number } | undefined }

/**
 * Checks that batches never overlap, and that their calls are tried again when and only when it can
 * help.
 */
function watchEngine (
  world: World,
  properties: Properties,
  { clock }: Process,
  { name, isPostgres }: ServiceOptions,
  openEngine: OpenEngine,
  onBatch: (plants: number) => void
): Engine {
  let batch: Batch | undefined

  const engine = openEngine(runner => watchStatements(world, name, runner, () => batch))

  async function addMany (plants: readonly NewPlant[]): Promise<Outcome[]> {
    if (batch !== undefined) properties.fail('safety', `${name} has two batches in flight`)
    const mine: Batch = { began: clock.now(), lastingError: undefined }
    batch = mine
    onBatch(plants.length)
    world.note(() => `${name}: batch of ${plants.map(textOf).join(', ')}`)
    try {
      return await engine.addMany(plants)
    } catch (error) {
      const { message } = error as Error
      if (message.includes('does not show it')) world.count('error: a plant is hidden or lost')
      const elapsedMs = clock.now() - mine.began
      if (isPostgres && elapsedMs < 8000 - longestIntervalMs && !isLasting(error)) {
        properties.fail('liveness', `${name} gave up after ${Math.round(elapsedMs)} ms: ${message}`)
      }
      throw error
    } finally {
      if (mine.lastingError !== undefined && mine.lastingError.at < clock.now()) {
        properties.fail('liveness', `${name} tried again after: ${mine.lastingError.message}`)
      }
      batch = undefined
    }
  }
  return { ...engine, addMany }
}

/** Logs statements, and notes the errors in a batch that no retry can mend. */
function watchStatements (
  world: World,
  name: string,
  runner: StatementRunner,
  currentBatch: () => Batch | undefined
): StatementRunner {
  return {
    ...runner,
    async query (text, values, timeoutMs, accept) {
      // After the deadline, the last try of an earlier batch may still run.
      const isOfBatch = timeoutMs > 0 && Array.isArray(values[0]) && values[0].length > 0
      const batch = isOfBatch ? currentBatch() : undefined
      const statement = `${text.slice(0, 12)} [${String(values[0] ?? '')}]`
      try {
        const rows = await runner.query(text, values, timeoutMs, accept)
        world.note(() => `${name}: ${statement} -> ${rows.length} rows`)
        return rows
      } catch (error) {
        const { message } = error as Error
        world.note(() => `${name}: ${statement} -> ${message}`)
        if (batch !== undefined && isLasting(error)) {
          batch.lastingError = {
            message, at: world.clock.now()
          }
        }
        throw error
      }
    }
  }
}

/**
 * An error that no retry of the same call can mend: a cancelled statement or wait, a lost table, a
 * hidden plant.
 */
function isLasting (error: unknown): boolean {
  const { code, message } = error as Error & { code?: string }
  return code === '57014' || code === '42P01' || /canceling wait|does not show it/.test(message)
}
