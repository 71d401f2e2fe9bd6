// Group commit for every engine: one batch is in flight, and the plants that arrive meanwhile form
// the next. A commit costs the same for one plant as for hundreds: sharing it makes durable
// responses fast.
import { charactersOf } from '../plants/plant.ts'
import {
  directCalls, type NewPlant, type Outcome, type PlantStore, QueueFull, StoreUnavailable
} from '../plants/plant-store.ts'
import { type Clock, systemClock } from './clock.ts'
import { directMethods, type EngineMethods, forwardMethods } from './engine.ts'

/** A batch ends with the plant that reaches this many characters of text. */
const maxBatchCharacters = 4 * 1024 * 1024
/** A batch of this size commits without waiting, while earlier callers get their responses. */
const fullBatchPlants = 64
const maxWaitMs = 2
/** Milliseconds between two looks for plants that wait too long. */
const lookMs = 500
/** Memory of a request that waits for its response, without its texts. */
const bytesOfRequest = 16 * 1024

const unconfirmed = 'The service could not confirm that the plant is stored. ' +
  'Sending the same plant again is safe.'

/** The store did not respond in time. The cause is why its last call failed, if it did. */
export class Late extends Error {
  /** @param missing what the store did not do */
  constructor (missing: string, ms: number, cause: unknown) {
    const wayOut = 'see whether its disk or its server responds, or a process locks its file'
    const reason = `the store ${missing} within ${ms} ms`
    super(cause === undefined ? `${reason}; ${wayOut}` : reason, { cause })
  }
}

/** Gets what happens to the plants that wait. */
export interface StoreObserver {
  /** How many plants wait now. */
  queued: (plants: number) => void
  /** A batch is durable. */
  committed: (plants: number, ms: number) => void
  /** Too many plants wait for another one, or a batch may not be durable. */
  count: (event: 'queue' | 'failedBatches') => void
}

/** Limits for the plants that wait; add() rejects further ones. */
export interface QueueLimits {
  maxQueue: number
  /** Memory that they take; unlimited by default. */
  maxQueueBytes?: number
  /**
   * Milliseconds until add() rejects a plant that is not confirmed; unlimited by default. The plant
   * may still be stored.
   */
  timeoutMs?: number
}

interface Pending {
  plant: NewPlant
  since: number
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
}

/** Makes an engine a store. */
export function groupCommit (
  engine: EngineMethods,
  {
    maxQueue, maxQueueBytes = Infinity, timeoutMs = Infinity, clock = systemClock, observer
  }: QueueLimits & { clock?: Clock, observer?: StoreObserver }
): PlantStore {
  const queue: Pending[] = []
  // A flood of them must be cheap.
  const overloads = {
    plants: new QueueFull(
      `found ${maxQueue} plants waiting for the store, the share of a thread in MAX_QUEUE`
    ),
    bytes: new QueueFull(`found plants of ${maxQueueBytes} bytes waiting for the store`)
  }
  let queueBytes = 0
  /** Why the last batch failed. */
  let failure: unknown
  let running: Promise<void> | undefined
  let closed: Promise<void> | undefined
  /** Calls that bypass the queue. */
  const direct = new Set<Promise<unknown>>()

  async function run (): Promise<void> {
    while (queue.length > 0) {
      await waitForMore()
      const batch = queue.splice(0, sizeOfBatch(queue))
      for (const { plant } of batch) queueBytes -= bytesOf(plant)
      observer?.queued(queue.length)
      await commit(batch)
    }
    running = undefined
  }

  /**
   * Waits while each turn of the event loop brings more plants: few large batches cost less than
   * many small ones. A single caller waits for one idle turn.
   */
  async function waitForMore (): Promise<void> {
    const until = clock.now() + maxWaitMs
    let before = 0
    while (queue.length > before && queue.length < fullBatchPlants && clock.now() < until) {
      before = queue.length
      await clock.nextTurn()
    }
  }

  async function commit (batch: Pending[]): Promise<void> {
    const began = clock.now()
    const stopLooking = rejectLate(batch)
    try {
      const outcomes = await engine.addMany(batch.map(({ plant }) => plant))
      observer?.committed(batch.length, clock.now() - began)
      batch.forEach(({ resolve }, index) => resolve(outcomes[index] as Outcome))
      failure = undefined
    } catch (cause) {
      observer?.count('failedBatches')
      failure = cause
      const error = new StoreUnavailable(unconfirmed, { cause })
      for (const { reject } of batch) reject(error)
    } finally {
      stopLooking()
    }
  }

  /** Looks for plants that wait too long, until the returned function is called. */
  function rejectLate (batch: Pending[]): () => void {
    let cancel = clock.setTimer(look, lookMs)
    function look (): void {
      const cause = new Late('did not confirm the plant', timeoutMs, failure)
      const error = new StoreUnavailable(unconfirmed, { cause })
      for (const { since, reject } of [...batch, ...queue]) {
        if (clock.now() - since >= timeoutMs) reject(error)
      }
      cancel = clock.setTimer(look, lookMs)
    }
    return () => cancel()
  }

  /** Rejects after close(), because a call would open the engine again. */
  function whileOpen<Result> (call: () => Promise<Result>): Promise<Result> {
    if (closed !== undefined) return unavailable('The service is shutting down.')
    const result = call()
    direct.add(result)
    return result.finally(() => direct.delete(result))
  }

  async function finish (): Promise<void> {
    await Promise.allSettled([running, ...direct])
    await engine.close()
  }

  return {
    ...forwardMethods(directMethods, (method, args) => whileOpen(() => {
      return engine[method](...args).catch(cause => unavailable(directCalls[method], cause))
    })),
    add (plant) {
      if (closed !== undefined) {
        return unavailable('The service is shutting down. Try again elsewhere or later.')
      }
      if (queue.length >= maxQueue || queueBytes >= maxQueueBytes) {
        observer?.count('queue')
        const cause = queue.length >= maxQueue ? overloads.plants : overloads.bytes
        return unavailable('The service is overloaded. Try again in a moment.', cause)
      }
      return new Promise((resolve, reject) => {
        queue.push({ plant, since: clock.now(), resolve, reject })
        queueBytes += bytesOf(plant)
        observer?.queued(queue.length)
        running ??= run()
      })
    },
    check: () => whileOpen(() => engine.check()),
    close () {
      closed ??= finish()
      return closed
    }
  }
}

/** Number of plants in the next batch, limited by their text. */
function sizeOfBatch (queue: Pending[]): number {
  let characters = 0
  for (const [index, { plant }] of queue.entries()) {
    characters += charactersOf(plant)
    if (characters > maxBatchCharacters) return index + 1
  }
  return queue.length
}

/** Bytes of a waiting plant with its request: at most two a character. */
function bytesOf (plant: NewPlant): number {
  return bytesOfRequest + 2 * charactersOf(plant)
}

function unavailable (message: string, cause?: unknown): Promise<never> {
  return Promise.reject(new StoreUnavailable(message, { cause }))
}
