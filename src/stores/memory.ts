// Stores plants in memory for trial runs; they are lost when the process ends.
import { isSamePlant } from '../plants/plant.ts'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import { type Engine, implement } from './engine.ts'

export function memoryEngine (): Engine {
  const plants = new Map<bigint, NewPlant>()

  function add (plant: NewPlant): Outcome {
    const stored = plants.get(plant.id)
    if (stored === undefined) {
      plants.set(plant.id, { ...plant })
      return 'added'
    }
    return isSamePlant(plant, stored) ? 'unchanged' : 'conflict'
  }

  return implement({
    addMany: async batch => batch.map(add),
    async page (from, limit) {
      const following = [...plants.values()].filter(({ id }) => id >= from)
      const sorted = following.sort((a, b) => a.id < b.id ? -1 : 1)
      return sorted.slice(0, limit).map(plant => ({ ...plant }))
    },
    count: async () => plants.size,
    check: async () => {},
    close: async () => {}
  })
}
