// createPlant: adds a plant to the store.
import type { operations } from '../../generated/types.ts'
import type { Handler } from '../contract/types.ts'
import type { PlantStore } from './plant-store.ts'

export function createPlant (store: PlantStore): Handler<operations['createPlant']> {
  return async ({ body: { id, name, tag } }) => {
    const plant = tag === undefined ? { name } : { name, tag }
    const outcome = await store.add({ id, ...plant })
    if (outcome === 'conflict') {
      return { status: 409, body: { error: 409, message: `Another plant has the id ${id}. It stays as it is.` } }
    }
    return { status: 200, body: plant }
  }
}
