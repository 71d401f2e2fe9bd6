// The members of a plant: a new one in the contract does not compile until this file, the handler,
// the copy and each store take it.
import type { NewPlant } from './plant-store.ts'

/** All members; undefined stands for a missing one, so that an object of them names each. */
export type Members = { [Name in keyof Required<NewPlant>]: NewPlant[Name] }

/** Returns a plant without the members that are undefined. */
export function plantOf ({ tag, ...required }: Members): NewPlant {
  const plant: NewPlant = required
  if (tag !== undefined) plant.tag = tag
  return plant
}

/** Whether a plant is the stored one: a retry of its request changes nothing. */
export function isSamePlant (plant: NewPlant, stored: NewPlant): boolean {
  const same = {
    id: plant.id === stored.id,
    name: plant.name === stored.name,
    tag: plant.tag === stored.tag
  } satisfies Record<keyof NewPlant, boolean>
  return !Object.values(same).includes(false)
}

/** The length of its texts, which limits queues, batches and chunks. */
export function charactersOf ({ name, tag = '' }: NewPlant): number {
  return name.length + tag.length
}
