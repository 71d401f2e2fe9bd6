// A service instance as its callers see it: the real group commit and the real engine, under observation.
import type { NewPlant, Outcome, PlantStore } from '../../src/plants/plant-store.ts'
import { groupCommit } from '../../src/stores/group-commit.ts'
import type { Engine } from '../../src/stores/group-commit.ts'
import type { Connections } from '../../src/stores/postgres/connections.ts'
import type { Process } from './process.ts'
import { textOf } from './properties.ts'
import type { Properties } from './properties.ts'
import type { World } from './world.ts'

/** docs/storage.md promises a response after about 8 seconds. The rest is for late timers and turns. */
const callMs = 8000 + 100
/** The longest interval between two tries: a call may end that much before its deadline. */
const longestIntervalMs = 400
/** Closing waits for a connection that is being opened, and for a request to stop a statement. */
const closeMs = 3000

export interface Service {
  name: string
  process: Process
  isClosed: boolean
  add: (plant: NewPlant) => Promise<Outcome | 'failed' | 'overloaded' | 'closed'>
  read: (kind: 'page' | 'count' | 'check') => Promise<boolean>
  close: () => Promise<void>
}

export interface ServiceOptions {
  name: string
  maxQueue: number
  /** How many plants a batch holds at least, if so many wait. */
  batchPlants: number
  /** PostgreSQL retries; other engines may fail at once. */
  isPostgres: boolean
  hadStandbySince: (moment: number) => boolean
}

interface Batch { began: number, lastingError: { error: unknown, at: number } | undefined }

export function startService (
  world: World,
  properties: Properties,
  process: Process,
  { name, maxQueue, batchPlants, isPostgres, hadStandbySince }: ServiceOptions,
  openEngine: (observe: (connections: Connections) => Connections) => Engine
): Service {
  const { clock } = process
  let batch: Batch | undefined
  let waiting = 0
  let queued = 0
  const pending = new Set<{ what: string }>()

  /** Notes an error of a statement of this batch that no retry can mend. */
  function observe (connections: Connections): Connections {
    return {
      ...connections,
      async query (text, values, timeoutMs) {
        const mine = batch
        const statement = `${text.slice(0, 12)} [${String(values[0])}]`
        try {
          const rows = await connections.query<never>(text, values, timeoutMs)
          world.note(() => `${name}: ${statement} -> ${rows.length} rows`)
          return rows
        } catch (error) {
          world.note(() => `${name}: ${statement} -> ${(error as Error).message}`)
          // After the deadline, an earlier batch may still run.
          const isOfBatch = timeoutMs > 0 && Array.isArray(values[0]) && values[0].length > 0
          if (mine !== undefined && isOfBatch && isLasting(error)) mine.lastingError = { error, at: clock.now() }
          throw error
        }
      }
    }
  }

  const engine = openEngine(observe)

  async function addMany (plants: readonly NewPlant[]): Promise<Outcome[]> {
    if (batch !== undefined) properties.fail('safety', `${name} has two batches in flight`)
    const mine: Batch = { began: clock.now(), lastingError: undefined }
    batch = mine
    queued -= plants.length
    world.note(() => `${name}: batch of ${plants.map(textOf).join(', ')}`)
    try {
      return await engine.addMany(plants)
    } catch (error) {
      if ((error as Error).message.includes('does not show it')) world.count('error: a plant is hidden or lost')
      const elapsedMs = clock.now() - mine.began
      if (isPostgres && elapsedMs < 8000 - longestIntervalMs && !isLasting(error)) {
        properties.fail('liveness', `${name} gave up after ${Math.round(elapsedMs)} ms: ${(error as Error).message}`)
      }
      throw error
    } finally {
      if (mine.lastingError !== undefined && mine.lastingError.at < clock.now()) {
        properties.fail('liveness', `${name} tried again after: ${(mine.lastingError.error as Error).message}`)
      }
      batch = undefined
    }
  }

  const store: PlantStore = groupCommit({ ...engine, addMany }, { maxQueue, clock })

  /** The time within which a plant that is added now must have its outcome. */
  const boundMs = () => (2 + Math.floor(waiting / batchPlants)) * callMs

  async function track<Result> (what: string, call: () => Promise<Result>, withinMs: number): Promise<Result> {
    const key = { what }
    pending.add(key)
    try {
      return await properties.settles(`${name} ${what}`, call(), withinMs, process.runningMs)
    } finally {
      pending.delete(key)
    }
  }

  const service: Service = {
    name,
    process,
    isClosed: false,
    async add (plant) {
      const { isClosed } = service
      const isFull = queued >= maxQueue
      const withinMs = isClosed || isFull ? 0 : boundMs()
      if (!isClosed && !isFull) queued++
      waiting++
      try {
        const outcome = await track(`add ${textOf(plant)}`, () => store.add(plant), withinMs)
        world.note(() => `${name}: ${textOf(plant)} is ${outcome}`)
        if (isClosed) properties.fail('safety', `${name} added ${textOf(plant)} after close()`)
        if (isFull) properties.fail('liveness', `${name} added ${textOf(plant)} to a full queue`)
        properties.onOutcome(plant, outcome)
        return outcome
      } catch (error) {
        const { message } = error as Error
        world.note(() => `${name}: ${textOf(plant)} is refused: ${message}`)
        world.count(`refusal: ${message}`)
        if (message.includes('overloaded') && !isFull) properties.fail('liveness', `${name} is overloaded, but has room`)
        return message.includes('overloaded') ? 'overloaded' : message.includes('shutting down') ? 'closed' : 'failed'
      } finally {
        waiting--
      }
    },
    async read (kind) {
      const began = clock.now()
      const calls = { page: () => store.page(0n, 10), count: () => store.count(), check: () => store.check() }
      const isOk = await track<unknown>(kind, calls[kind], isPostgres ? callMs : 2 * callMs).then(() => true, () => false)
      world.note(() => `${name}: ${kind} ${isOk ? 'succeeds' : 'fails'}`)
      world.count(`call: ${kind} ${isOk ? 'succeeds' : 'fails'}`)
      if (kind === 'check' && isOk && !hadStandbySince(began)) {
        properties.fail('safety', `${name} check succeeds without a standby`)
      }
      return isOk
    },
    async close () {
      service.isClosed = true
      const before = [...pending]
      world.note(() => `${name}: close() while ${before.length} calls are pending`)
      world.count(before.length > 0 ? 'call: close() with pending calls' : 'call: close() without pending calls')
      await properties.settles(`${name} close()`, store.close(), boundMs() + closeMs, process.runningMs)
      world.note(() => `${name}: closed`)
      // The callers that close() has finished get their outcomes first.
      await world.sleep(0)
      for (const key of before) {
        if (pending.has(key)) properties.fail('liveness', `${name} closed before the end of ${key.what}`)
      }
    }
  }
  return service
}

/** An error that no retry of the same call can mend: a cancelled statement or wait, a lost table, a hidden plant. */
function isLasting (error: unknown): boolean {
  const { code, message } = error as Error & { code?: string }
  return code === '57014' || code === '42P01' || /canceling wait|does not show it/.test(message)
}
