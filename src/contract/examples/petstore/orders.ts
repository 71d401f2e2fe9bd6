// The handlers of the tag `store`.
import { valueOf } from './body.ts'
import type { HandlersTagged } from './generated/index.ts'
import { idFor, type Store } from './store.ts'

export function orderHandlers ({ pets, orders }: Store): HandlersTagged<'store'> {
  return {
    getInventory () {
      const counts: Record<string, number> = {}
      for (const { status = 'unknown' } of pets.values()) counts[status] = (counts[status] ?? 0) + 1
      return { status: 200, body: counts }
    },

    placeOrder (request) {
      // The contract does not require a body.
      if (request.contentType === undefined) return { status: 400 }
      const given = valueOf(request)
      const id = idFor(given, orders)
      const order = { ...given, id }
      orders.set(id, order)
      return { status: 200, body: order }
    },

    getOrderById ({ path: { orderId } }) {
      const order = orders.get(orderId)
      return order === undefined ? { status: 404 } : { status: 200, body: order }
    },

    deleteOrder ({ path: { orderId } }) {
      return orders.delete(orderId) ? { status: 200 } : { status: 404 }
    }
  }
}
