// The storage port: what the service needs of a store, and what a store promises.
// test/fixtures/plant-store-suite.ts tests these promises against every engine.
import type { components } from '../../generated/types.ts'

export type NewPlant = components['schemas']['NewPlant']

/** `unchanged`: the same plant is stored already. `conflict`: another plant has this id, and stays as it is. */
export type Outcome = 'added' | 'unchanged' | 'conflict'

export interface PlantStore {
  /**
   * Adds a plant. Resolves once the plant survives a power cut.
   * @throws StoreUnavailable when the store cannot promise that; the plant may be stored, and adding it again is safe
   */
  add (plant: NewPlant): Promise<Outcome>
  /** Up to `limit` plants in the order of their ids, from the id `from` on. Bypasses the queue of add(). */
  page (from: bigint, limit: number): Promise<NewPlant[]>
  count (): Promise<number>
  /** Rejects when the store cannot promise writes. */
  check (): Promise<void>
  /** Finishes pending calls and refuses later ones. Safe to call twice. */
  close (): Promise<void>
}

/** The store cannot promise anything at the moment. The message is for the caller, the cause for the log. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

const smallestId = -(2n ** 63n)
const largestId = 2n ** 63n - 1n
const pageSize = 1000

/** Every plant in the order of ids, including plants that are added meanwhile with an id above the last one read. */
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
