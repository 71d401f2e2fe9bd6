// createPlant: adds a plant to the store.
import type { Answer, Handler } from 'fastify-openapi-contract'
import { errorBody } from './error-body.ts'
import type { Operations } from './operations.ts'
import { plantOf } from './plant.ts'
import type { PlantStore } from './plant-store.ts'

export function createPlant (store: PlantStore): Handler<Operations, 'createPlant'> {
  return async ({ body: { id, name, tag } }): Promise<Answer<Operations, 'createPlant'>> => {
    const newPlant = plantOf({ id, name, tag })
    const outcome = await store.add(newPlant)
    if (outcome === 'conflict') {
      const message = `Another plant has the id ${id}. The stored plant does not change.`
      return { status: 409, body: errorBody(409, message) }
    }
    const { id: _id, ...plant } = newPlant
    return { status: 200, body: plant }
  }
}
