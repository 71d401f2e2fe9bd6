// Group commit, once for every engine: one batch is in flight, and whatever arrives meanwhile is the next.
// A commit costs the same for one plant as for hundreds; waiting for it together is what makes durable answers fast.
import { ServiceError } from '../errors.ts'
import type { NewPlant, Outcome, PlantStore } from '../plants/plant-store.ts'

/** What a storage technology has to do. Calls of addMany() never overlap. */
export interface Engine {
  /** Adds plants in their order, all or none, and resolves once they survive a power cut, to an outcome for each. */
  addMany (plants: readonly NewPlant[]): Promise<Outcome[]>
  /** The first plants after an id, in the order of ids; none when there are no more. */
  page (after: bigint | undefined): Promise<NewPlant[]>
  count (): Promise<number>
  check (): Promise<void>
  close (): Promise<void>
}

/** Characters of a batch, but for the plant that exceeds them. */
const batchText = 4 * 1024 * 1024

/** Plants of a batch that need not wait for more: the next commits while other callers are answered. */
const enough = 64
/** Milliseconds, at most, that a batch waits for more. */
const patience = 2

interface Waiting { plant: NewPlant, resolve: (outcome: Outcome) => void, reject: (error: unknown) => void }

/**
 * Makes an engine a store.
 * @param maxQueue how many plants may wait for the next batch; one more is refused at once
 */
export function groupCommit (engine: Engine, { maxQueue }: { maxQueue: number }): PlantStore {
  const queue: Waiting[] = []
  let running: Promise<void> | undefined
  let closed: Promise<void> | undefined

  async function run (): Promise<void> {
    while (queue.length > 0) {
      await gather()
      await commit(queue.splice(0, sizeOfBatch(queue)))
    }
    running = undefined
  }

  /**
   * Lets the queue grow for as long as each turn of the event loop brings more: few batches of many plants cost less
   * than many of few. A caller alone waits for a turn in which nothing else happens.
   */
  async function gather (): Promise<void> {
    const until = performance.now() + patience
    let before = 0
    while (queue.length > before && queue.length < enough && performance.now() < until) {
      before = queue.length
      await new Promise(setImmediate)
    }
  }

  async function commit (batch: Waiting[]): Promise<void> {
    try {
      const outcomes = await engine.addMany(batch.map(({ plant }) => plant))
      batch.forEach(({ resolve }, index) => resolve(outcomes[index] as Outcome))
    } catch (error) {
      const unavailable = new ServiceError('unavailable', 'The plant could not be stored. Sending it again is safe.', { cause: error })
      for (const { reject } of batch) reject(unavailable)
    }
  }

  /** What is asked of a closed engine would open it again. */
  function whileOpen<Result> (ask: () => Promise<Result>): Promise<Result> {
    return closed === undefined ? ask() : refuse('The service is shutting down.')
  }

  async function finish (): Promise<void> {
    await running
    await engine.close()
  }

  return {
    add (plant) {
      if (closed !== undefined) return refuse('The service is shutting down. Try again elsewhere or later.')
      if (queue.length >= maxQueue) return refuse('The service is overloaded. Try again in a moment.')
      return new Promise((resolve, reject) => {
        queue.push({ plant, resolve, reject })
        running ??= run()
      })
    },
    async * all () {
      let after: bigint | undefined
      const next = () => whileOpen(() => engine.page(after))
      for (let page = await next(); page.length > 0; page = await next()) {
        yield * page
        after = page.at(-1)?.id
      }
    },
    count: () => whileOpen(() => engine.count()),
    check: () => whileOpen(() => engine.check()),
    close: () => { return (closed ??= finish()) }
  }
}

/** How many of the first plants are a batch: all, unless their text is so much that it would take an engine too long. */
function sizeOfBatch (queue: Waiting[]): number {
  let text = 0
  const last = queue.findIndex(({ plant: { name, tag = '' } }) => (text += name.length + tag.length) > batchText)
  return last < 0 ? queue.length : last + 1
}

function refuse (message: string): Promise<never> {
  return Promise.reject(new ServiceError('unavailable', message))
}
