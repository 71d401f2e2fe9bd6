// The statements on plants: one adds a batch, and rows are never changed.
import type pg from 'pg'
import type { NewPlant, Outcome } from '../../plants/plant-store.ts'
import { implement } from '../engine.ts'
import type { Dialect } from './dialects.ts'
import { PermanentError } from './errors.ts'

/** Runs one statement, outside of a transaction, as StatementRunner does. */
export type Query = <Row extends pg.QueryResultRow>(
  text: string,
  values?: unknown[],
  accept?: (rows: Row[]) => void
) => Promise<Row[]>

/** Runs statements with retries until the deadline of a call. */
export type Run = <Result>(
  work: (query: Query, dialect: Dialect) => Promise<Result>
) => Promise<Result>

/** A row, with the id as decimal digits. */
interface PlantRow { id: string, name: string, tag: string | null }

/** The methods of the engine that need no more than these statements. */
export function createPlantMethods (run: Run) {
  return implement({
    addMany: plants => run((query, dialect) => addMany(query, dialect, plants)),
    page: (from, limit) => run(async query => {
      const select = 'SELECT id, name, tag FROM plants WHERE id >= $1 ORDER BY id LIMIT $2'
      const rows = await query<PlantRow>(select, [from, limit])
      return rows.map(toPlant)
    }),
    count: () => run(async query => {
      const [row] = await query<{ count: string }>('SELECT count(*) FROM plants')
      return Number(row?.count)
    })
  })
}

/**
 * Adds the first plant of each id, and compares all others with the stored ones.
 * Sorted ids prevent deadlocks between services that add the same ids.
 */
async function addMany (
  query: Query,
  dialect: Dialect,
  plants: readonly NewPlant[]
): Promise<Outcome[]> {
  const plantById = new Map<bigint, NewPlant>()
  for (const plant of plants) if (!plantById.has(plant.id)) plantById.set(plant.id, plant)
  const firstOfEachId = [...plantById.values()].sort((a, b) => a.id < b.id ? -1 : 1)
  const inserted = await query<{ id: string }>(dialect.insertPlants, [
    firstOfEachId.map(({ id }) => id),
    firstOfEachId.map(({ name }) => name),
    firstOfEachId.map(({ tag = null }) => tag)
  ])
  const added = new Set(inserted.map(({ id }) => BigInt(id)))
  const existingIds = firstOfEachId.filter(({ id }) => !added.has(id)).map(({ id }) => id)
  if (existingIds.length > 0) {
    const rows = await query<PlantRow>(dialect.selectExisting, [existingIds])
    for (const row of rows) plantById.set(BigInt(row.id), toPlant(row))
    if (rows.length < existingIds.length) throw hiddenPlantError(existingIds, rows)
  }
  return plants.map(plant => {
    // Only the first plant of an added id is 'added'; repetitions in the batch compare with it.
    if (added.delete(plant.id)) return 'added'
    const { name, tag } = plantById.get(plant.id) as NewPlant
    return name === plant.name && tag === plant.tag ? 'unchanged' : 'conflict'
  })
}

/** A trigger or a row policy hides the plant, or a failover between the two statements lost it. */
function hiddenPlantError (ids: bigint[], rows: PlantRow[]): Error {
  const found = new Set(rows.map(({ id }) => BigInt(id)))
  const hidden = ids.find(id => !found.has(id))
  return new PermanentError(`plant ${hidden} was not added, and the database does not show it`)
}

function toPlant ({ id, name, tag }: PlantRow): NewPlant {
  return tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag }
}

/**
 * Fails unless addMany() may run its statements and the table has its primary key. Adds nothing.
 */
export async function checkRights (query: Query, dialect: Dialect): Promise<void> {
  await query(dialect.insertPlants, [[], [], []])
  await query(`${dialect.selectExisting} LIMIT 0`, [[]])
}

/**
 * On PostgreSQL, resolves once the configured standbys have everything that was committed before.
 */
export async function confirmCommits (query: Query, dialect: Dialect): Promise<void> {
  await query(dialect.selectExisting, [[]])
}
