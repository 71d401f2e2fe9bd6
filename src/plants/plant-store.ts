// The storage port: what the service needs from a store, and what every store guarantees.
// test/fixtures/plant-store-suite.ts tests these promises against every engine.
import type { RequestValue } from 'fastify-openapi-contract'
import type { components } from '../../generated/types.ts'

export type NewPlant = RequestValue<components['schemas']['NewPlant']>

/** `unchanged`: the same plant is stored. `conflict`: another plant has this id, and stays. */
export type Outcome = 'added' | 'unchanged' | 'conflict'

export interface PlantStore {
  /**
   * Adds a plant. Resolves once it is on durable storage.
   * @throws StoreUnavailable when that is not confirmed. The plant may be stored; a retry is safe.
   */
  add (plant: NewPlant): Promise<Outcome>
  /**
   * Up to `limit` plants in the order of their ids, from the id `from` on.
   * @throws StoreUnavailable
   */
  page (from: bigint, limit: number): Promise<NewPlant[]>
  count (): Promise<number>
  /** Rejects when the store cannot write durably. */
  check (): Promise<void>
  /** Finishes pending calls and rejects later ones. Safe to call twice. */
  close (): Promise<void>
}

/** The methods that bypass the queue of add(), each with the message when it fails. */
export const directCalls = {
  page: 'The store cannot be read now.',
  count: 'The store cannot be read now.'
} satisfies Record<Exclude<keyof PlantStore, 'add' | 'check' | 'close'>, string>

/**
 * The store cannot confirm a durable write. The message is for the caller, the cause for the log.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** Why add() takes no plant: too many wait. The message ends a sentence about the request. */
export class QueueFull extends Error {}

const smallestId = -(2n ** 63n)
const largestId = 2n ** 63n - 1n
const pageSize = 1000

/** All plants by id, also those added during the read with an id above the last one read. */
export async function * allPlants (store: Pick<PlantStore, 'page'>): AsyncGenerator<NewPlant> {
  let from = smallestId
  for (;;) {
    const page = await store.page(from, pageSize)
    yield * page
    const last = page.at(-1)
    if (last === undefined || last.id === largestId) return
    from = last.id + 1n
  }
}
