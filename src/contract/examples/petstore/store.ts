// What the Petstore keeps, in memory.
import type { Schema } from './generated/index.ts'

export type Pet = Schema<'Pet'>
export type Order = Schema<'Order'>
export type User = Schema<'User'>

export interface Store {
  pets: Map<bigint, Pet>
  orders: Map<bigint, Order>
  users: Map<string, User>
}

export function createStore (): Store {
  return { pets: new Map(), orders: new Map(), users: new Map() }
}

/** The id that the client chose, or the next one: an int64 is a bigint, with an n in literals. */
export function idFor ({ id }: { id?: bigint }, known: Map<bigint, unknown>): bigint {
  let next = 1n
  while (known.has(next)) next = next + 1n
  return id ?? next
}
