// The handlers of the tag `pet`.
import { valueOf } from './body.ts'
import type { HandlersTagged } from './generated/index.ts'
import { idFor, type Pet, type Store } from './store.ts'

export function petHandlers ({ pets }: Store): HandlersTagged<'pet'> {
  const select = (isWanted: (pet: Pet) => boolean) => [...pets.values()].filter(isWanted)
  return {
    addPet (request) {
      const given = valueOf(request)
      const id = idFor(given, pets)
      const pet = { ...given, id }
      pets.set(id, pet)
      return { status: 200, body: pet }
    },

    updatePet (request) {
      const pet = valueOf(request)
      const { id } = pet
      if (id === undefined) return { status: 400 }
      if (!pets.has(id)) return { status: 404 }
      pets.set(id, pet)
      return { status: 200, body: pet }
    },

    getPetById ({ path: { petId } }) {
      const pet = pets.get(petId)
      return pet === undefined ? { status: 404 } : { status: 200, body: pet }
    },

    findPetsByStatus ({ query: { status } }) {
      return { status: 200, body: select(pet => pet.status === status) }
    },

    findPetsByTags ({ query: { tags = [] } }) {
      const hasTag = (pet: Pet) => pet.tags?.some(({ name = '' }) => tags.includes(name)) ?? false
      return { status: 200, body: select(hasTag) }
    },

    updatePetWithForm ({ path: { petId }, query: { name } }) {
      const pet = pets.get(petId)
      if (pet === undefined || name === undefined) return { status: 400 }
      pet.name = name
      return { status: 200, body: pet }
    },

    deletePet ({ path: { petId } }) {
      return pets.delete(petId) ? { status: 200 } : { status: 400 }
    },

    // The body is a stream of bytes, of any size up to the limit.
    async uploadFile ({ path: { petId }, body }) {
      if (!pets.has(petId)) return { status: 404 }
      if (body === undefined) return { status: 400 }
      let size = 0
      for await (const chunk of body) size += chunk.length
      return { status: 200, body: { message: `${size} bytes` } }
    }
  }
}
