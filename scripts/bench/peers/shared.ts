// What the peers share: the contract, the token, and plants in a Map, or in SQLite with one commit
// for each request.
import { DatabaseSync } from 'node:sqlite'
import { document as contract } from '../../../generated/document.ts'

export interface NewPlant { id: number, name: string, tag?: string }
interface Answer { status: number, body: object }

/** The contract without its server, whose variable some peers do not know. */
export const document = { ...structuredClone(contract), servers: [{ url: '/' }] }

export const authorization = `Bearer ${process.env.ACCESS_TOKENS}`

/** The answer to a valid request. */
export function createPlant (plant: NewPlant): Answer {
  const { id, name, tag } = plant
  if (isConflict(plant)) {
    return { status: 409, body: { error: 409, message: `Another plant has the id ${id}.` } }
  }
  return { status: 200, body: tag === undefined ? { name } : { name, tag } }
}

/** Stores a plant unless another one has its id. */
const isConflict = process.env.PEER_STORE === 'sqlite' ? sqliteStore() : mapStore()

function mapStore () {
  const plants = new Map<number, NewPlant>()
  return (plant: NewPlant): boolean => {
    const stored = plants.get(plant.id) ?? plant
    plants.set(plant.id, stored)
    return stored.name !== plant.name || stored.tag !== plant.tag
  }
}

function sqliteStore () {
  const database = new DatabaseSync('plants.db')
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
  const insert = database.prepare('INSERT INTO plants VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const same = database.prepare('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?')
  return ({ id, name, tag }: NewPlant): boolean => {
    const row = [id, name, tag ?? null]
    return insert.run(...row).changes === 0 && same.get(...row) === undefined
  }
}
