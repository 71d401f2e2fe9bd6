// Clients that write to the same few ids at once: with equal and with different contents, again
// after a failure, and sometimes again after a success, as clients do that lost the response.
import { type Answer, contentOf, type History } from './history.ts'

export interface Plant { id: bigint, name: string, tag: string | null }

export type Send = (plant: Plant) => Promise<Answer>

/** A fraction from 0 up to 1. */
export type Chance = () => number

export interface Workload {
  clients: number
  chance: Chance
  /** The first id; each batch of writes has a few further ones. */
  firstId: bigint
  /** Clients stop when this says so, after their last response. */
  isOver: () => boolean
}

/** Ids that are in use at the same time, and writes until the next one comes into use. */
const openIds = 6
const writesPerId = 12
const names = ['fern', 'ivy', 'Fern ', '苔 "x"\\']
const tags = [null, null, '', 'a']

/** Resolves to the number of ids that the clients used. */
export async function runWorkload (
  history: History, send: Send, { clients, chance, firstId, isOver }: Workload
): Promise<bigint> {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(chance() * items.length)] as Item
  let writes = 0

  async function runClient (): Promise<void> {
    while (!isOver()) {
      const offset = Math.floor(writes / writesPerId) + Math.floor(chance() * openIds)
      const plant = { id: firstId + BigInt(offset), name: pick(names), tag: pick(tags) }
      const content = contentOf(plant.name, plant.tag)
      for (let attempt = 0; attempt < 4 && !isOver(); attempt++) {
        writes++
        const answer = await history.write(plant.id, content, () => send(plant))
        if (chance() < (answer === 'unknown' ? 0.2 : 0.9)) break
      }
    }
  }

  await Promise.all(Array.from({ length: clients }, runClient))
  return BigInt(Math.floor(writes / writesPerId) + openIds)
}

/** The generator of Park and Miller: the same seed gives the same chances. */
export function createChance (seed: number): Chance {
  let state = seed % 2147483646 + 1
  return () => {
    state = state * 48271 % 2147483647
    return (state - 1) / 2147483646
  }
}
