// createPlant: adds a plant to the store.
import type { operations } from '../../generated/types.ts'
import type { Answer, Handler } from '../contract/index.ts'
import { errorBody } from './error-body.ts'
import type { PlantStore } from './plant-store.ts'

export function createPlant (store: PlantStore): Handler<operations, 'createPlant'> {
  return async ({ body: { id, name, tag } }): Promise<Answer<operations, 'createPlant'>> => {
    const plant = tag === undefined ? { name } : { name, tag }
    const outcome = await store.add({ id, ...plant })
    if (outcome === 'conflict') {
      return { status: 409, body: errorBody(409, `Another plant has the id ${id}. The stored plant does not change.`) }
    }
    return { status: 200, body: plant }
  }
}
