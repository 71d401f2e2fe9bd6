// Plants in memory: for trying things out. Nothing survives the process, which is what `memory:` asks for.
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import type { Engine } from './group-commit.ts'

const pageSize = 1000

export function memoryEngine (): Engine {
  const plants = new Map<bigint, NewPlant>()

  function add (plant: NewPlant): Outcome {
    const stored = plants.get(plant.id)
    if (stored === undefined) {
      plants.set(plant.id, { ...plant })
      return 'added'
    }
    return stored.name === plant.name && stored.tag === plant.tag ? 'unchanged' : 'conflict'
  }

  return {
    addMany: async batch => batch.map(add),
    async page (after) {
      const ids = [...plants.keys()].filter(id => after === undefined || id > after).sort((a, b) => a < b ? -1 : 1)
      return ids.slice(0, pageSize).map(id => ({ ...plants.get(id) as NewPlant }))
    },
    count: async () => plants.size,
    check: async () => {},
    close: async () => {}
  }
}
