// The storage port: what the service asks of a store, and what a store promises.
// The promises are executable: test/fixtures/plant-store-suite.ts runs them against every engine.
import type { components } from '../../generated/types.ts'

export type NewPlant = components['schemas']['NewPlant']

/** `unchanged`: this very plant was there already. `conflict`: another plant has this id, and stays as it is. */
export type Outcome = 'added' | 'unchanged' | 'conflict'

export interface PlantStore {
  /**
   * Adds a plant. Resolves once the plant survives a power cut.
   * @throws ServiceError `unavailable` when that cannot be promised; the plant may be stored all the same, and adding it again is safe
   */
  add (plant: NewPlant): Promise<Outcome>
  /** All plants in the order of their ids, those included that are added meanwhile behind the one last read. */
  all (): AsyncIterable<NewPlant>
  /** How many plants there are. */
  count (): Promise<number>
  /** Rejects when writes cannot be promised. */
  check (): Promise<void>
  /** Finishes what is under way and refuses the rest. Safe to call twice. */
  close (): Promise<void>
}
