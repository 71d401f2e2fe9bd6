// A simulated engine without retries, as SQLite in its worker: a batch may fail, hang for some
// time, or die.
import type { NewPlant, Outcome } from '../../../src/plants/plant-store.ts'
import { directMethods, type Engine, forwardMethods } from '../../../src/stores/engine.ts'
import type { Data, Row } from './server.ts'
import type { World } from './world.ts'

/** The longest time that a batch may hang. */
export const longestHangMs = 8000

export interface BatchEngines { open: () => Engine, durable: () => Data, heal: () => Promise<void> }

/** Engines that share one file. */
export function createBatchEngines (world: World, rate: number): BatchEngines {
  const plants = new Map<bigint, Row>()

  function open (): Engine {
    /** The worker takes one call after the other. */
    let last: Promise<unknown> = Promise.resolve()
    const call = <Result>(work: () => Result, faultRate = 0): Promise<Result> => {
      const result = last.then(() => run(work, faultRate))
      last = result.catch(() => {})
      return result
    }
    return {
      addMany: batch => call(() => batch.map(add), rate),
      ...forwardMethods(directMethods, (_method, _args) => call(() => undefined as never)),
      check: () => call(() => {}),
      close: () => call(() => {})
    }
  }

  async function run<Result> (work: () => Result, faultRate: number): Promise<Result> {
    const fault = world.chance(faultRate)
      ? world.pick(
        ['failsBefore', 'failsAfter', 'hangs']
      )
      : undefined
    if (fault !== undefined) world.count(`fault: batch ${fault}`)
    await world.sleep(
      fault === 'hangs' ? world.between(1000, longestHangMs) : world.between(0.1, 5)
    )
    if (fault === 'failsBefore') throw new Error('database or disk is full')
    const result = work()
    if (fault === 'failsAfter') throw new Error('The SQLite worker has exited.')
    return result
  }

  function add (plant: NewPlant): Outcome {
    const { id, name, tag = null } = { tag: null, ...plant }
    const stored = plants.get(id)
    if (stored === undefined) {
      plants.set(id, { id, name, tag })
      return 'added'
    }
    return stored.name === name && stored.tag === tag ? 'unchanged' : 'conflict'
  }

  return {
    open,
    durable: () => ({ plants, version: 1 }),
    async heal () { rate = 0 }
  }
}
