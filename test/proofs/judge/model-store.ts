// A store in memory with a disk and crashes: as it should be, or broken in one of eight ways.
import { type Answer, type Content, contentOf } from './history.ts'
import type { Chance, Plant } from './workload.ts'

export const breaks = [
  'it answers before the sync',
  'a plant that exists is answered before its sync',
  'the last write wins',
  'it looks, waits and then writes',
  'the same plant again is a conflict',
  'another plant for an id is acknowledged',
  'an empty tag becomes no tag',
  'ids are rounded to doubles'
] as const
export type Break = typeof breaks[number]

export interface ModelStore {
  send: (plant: Plant) => Promise<Answer>
  /** What is in memory and not on the disk is gone, and requests under way get no answer. */
  crash: () => void
  look: () => Promise<Map<bigint, Content>>
}

export function createModelStore (chance: Chance, broken?: Break): ModelStore {
  const disk = new Map<bigint, Content>()
  let memory = new Map<bigint, Content>()

  async function pass (): Promise<void> {
    for (let turns = Math.floor(chance() * 4); turns > 0; turns--) {
      await new Promise(resolve => setImmediate(resolve))
    }
  }

  function save (id: bigint, before: Map<bigint, Content>): Promise<boolean> {
    return pass().then(() => {
      const content = before.get(id)
      if (memory !== before || content === undefined) return false
      disk.set(id, content)
      return true
    })
  }

  async function store ({ id, name, tag }: Plant): Promise<Answer> {
    const content = contentOf(name, broken === 'an empty tag becomes no tag' ? tag || null : tag)
    const began = memory
    const existing = began.get(id)
    if (broken === 'it looks, waits and then writes') await pass()
    if (began !== memory) return 'unknown'
    const isNew = existing === undefined || broken === 'the last write wins'
    if (isNew) memory.set(id, content)
    const isSame = isNew || existing === content
    const saving = save(id, began)
    const mayAnswer = broken === 'it answers before the sync' ||
      (!isNew && broken === 'a plant that exists is answered before its sync')
    if (!mayAnswer && !await saving) return 'unknown'
    if (broken === 'the same plant again is a conflict' && !isNew) return 'conflict'
    if (broken === 'another plant for an id is acknowledged') return 'stored'
    return isSame ? 'stored' : 'conflict'
  }

  return {
    async send (plant) {
      const isRounded = broken === 'ids are rounded to doubles'
      await pass()
      const answer = await store(isRounded ? { ...plant, id: BigInt(Number(plant.id)) } : plant)
      await pass()
      // Some responses get lost.
      return chance() < 0.05 ? 'unknown' : answer
    },
    crash: () => { memory = new Map(disk) },
    look: async () => new Map(memory)
  }
}
