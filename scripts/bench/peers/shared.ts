// What all peers share: the contract, the token, and plants in a Map or in SQLite with one commit a request.
import { DatabaseSync } from 'node:sqlite'
import { document as contract } from '../../../generated/document.ts'

export interface NewPlant { id: number, name: string, tag?: string }

/** Returns whether another plant has the id. */
export type AddPlant = (plant: NewPlant) => boolean

/** The contract without its server, whose variable some peers do not know. */
export const document = { ...structuredClone(contract), servers: [{ url: '/' }] }

export const authorization = `Bearer ${process.env.ACCESS_TOKENS}`

export const unauthorized = { error: 401, message: 'The bearer token is missing or not accepted.' }

export function badRequest (message: string) {
  return { error: 400, message }
}

/** The answer to a valid request. */
export function createPlant (plant: NewPlant): { status: 200 | 409, body: object } {
  const { id, name, tag } = plant
  if (addPlant(plant)) return { status: 409, body: { error: 409, message: `Another plant has the id ${id}.` } }
  return { status: 200, body: tag === undefined ? { name } : { name, tag } }
}

const addPlant = process.env.PEER_STORE === 'sqlite' ? sqliteStore() : mapStore()

function mapStore (): AddPlant {
  const plants = new Map<number, NewPlant>()
  return plant => {
    const { name, tag } = plants.get(plant.id) ?? plant
    plants.set(plant.id, { id: plant.id, name, ...tag !== undefined && { tag } })
    return name !== plant.name || tag !== plant.tag
  }
}

function sqliteStore (): AddPlant {
  const database = new DatabaseSync('plants.db')
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const same = database.prepare('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?')
  return ({ id, name, tag = null }: { id: number, name: string, tag?: string | null }) => {
    return insert.run(id, name, tag).changes === 0 && same.get(id, name, tag) === undefined
  }
}
