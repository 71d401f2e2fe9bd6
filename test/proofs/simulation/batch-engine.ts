// A simulated engine without retries, as SQLite in its worker: a batch may fail or hang for some
// time, and the thread of the worker may die. The messages to the thread are the real ones.
import type { NewPlant, Outcome } from '../../../src/plants/plant-store.ts'
import type { Engine } from '../../../src/stores/engine.ts'
import {
  engineBehind, type EngineCall, type EnginePort, type EngineReply
} from '../../../src/stores/remote-engine.ts'
import type { Data, Row } from './server.ts'
import type { World } from './world.ts'

/** The longest time that a batch may hang. */
export const longestHangMs = 8000

export interface BatchEngines { open: () => Engine, durable: () => Data, heal: () => Promise<void> }

const faults = ['failsBefore', 'failsAfter', 'hangs', 'dies', 'diesAfter'] as const

/** Engines that share one file. */
export function createBatchEngines (world: World, rate: number): BatchEngines {
  const plants = new Map<bigint, Row>()

  /** A thread takes one call after another. Nothing arrives from a dead one but its end. */
  function startThread (): EnginePort {
    let last: Promise<unknown> = Promise.resolve()
    let isDead = false
    let onMessage = (_reply: EngineReply): void => {}
    let onClose = (): void => {}

    function end (): void {
      isDead = true
      world.after(world.between(0, 1), () => onClose())
    }

    async function serve (call: EngineCall): Promise<void> {
      await world.sleep(world.between(0, 1))
      if (isDead) return
      const fault = call.method === 'addMany' && world.chance(rate) ? world.pick(faults) : undefined
      if (fault !== undefined) world.count(`fault: batch ${fault}`)
      const isHung = fault === 'hangs'
      await world.sleep(isHung ? world.between(1000, longestHangMs) : world.between(0.1, 5))
      if (fault === 'dies') return end()
      const { id } = call
      if (fault === 'failsBefore') return onMessage({ id, error: new Error('the disk is full') })
      const result = call.method === 'addMany' ? call.args[0].map(add) : undefined
      if (fault === 'failsAfter') return onMessage({ id, error: new Error('the sync failed') })
      if (fault === 'diesAfter') return end()
      onMessage({ id, result })
      if (call.method === 'close') end()
    }

    return {
      on: (_event, listener) => { onMessage = listener },
      once: (_event, listener) => { onClose = listener },
      postMessage: call => { last = last.then(() => serve(call)) }
    }
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
    open: () => engineBehind(startThread, () => {}),
    durable: () => ({ plants, version: 1 }),
    async heal () { rate = 0 }
  }
}
