// The statements on plants: one adds a batch, and rows are never changed.
import type pg from 'pg'
import { isSamePlant, plantOf } from '../../plants/plant.ts'
import type { NewPlant, Outcome } from '../../plants/plant-store.ts'
import { implement } from '../engine.ts'
import { columnNames } from './columns.ts'
import type { Dialect } from './dialects.ts'
import { PermanentError } from './errors.ts'

/** Runs one statement, outside of a transaction, as StatementRunner does. */
export type Query = <Row extends pg.QueryResultRow>(
  text: string,
  values?: unknown[],
  accept?: (rows: Row[]) => void
) => Promise<Row[]>

/**
 * Runs statements with retries until the deadline of a call. The work must be idempotent: a
 * connection may break after the commit.
 */
export type Run = <Result>(
  work: (query: Query, dialect: Dialect) => Promise<Result>
) => Promise<Result>

/** A row, with the id as decimal digits. */
interface PlantRow { id: string, name: string, tag: string | null }

/** The methods of the engine that need no more than these statements. */
export function createPlantMethods (run: Run) {
  return implement({
    addMany: plants => run((query, dialect) => addMany(query, dialect, plants)),
    page: (from, limit) => run(async (query, { schema }) => {
      const select = `SELECT ${columnNames} FROM ${schema}.plants
  WHERE id >= $1 ORDER BY id LIMIT $2`
      const rows = await query<PlantRow>(select, [from, limit])
      return rows.map(toPlant)
    }),
    count: () => run(async (query, { schema }) => {
      const [row] = await query<{ count: string }>(`SELECT count(*) FROM ${schema}.plants`)
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
  let missing = [...plantById.values()].sort((a, b) => a.id < b.id ? -1 : 1)
  const added = new Set<bigint>()
  for (let tries = 1; missing.length > 0; tries++) {
    for (const [text, values] of dialect.insertPlants(missing)) {
      const inserted = await query<{ id: string }>(text, values)
      for (const { id } of inserted) added.add(BigInt(id))
    }
    const existingIds = missing.map(({ id }) => id).filter(id => !added.has(id))
    if (existingIds.length === 0) break
    const rows = await query<PlantRow>(dialect.selectExisting, [existingIds])
    for (const row of rows) plantById.set(BigInt(row.id), toPlant(row))
    // Another program may have deleted a plant between the two statements.
    const found = new Set(rows.map(({ id }) => BigInt(id)))
    missing = missing.filter(({ id }) => !added.has(id) && !found.has(id))
    if (missing.length > 0 && tries === maxTries) throw hiddenPlantError(missing)
  }
  return plants.map(plant => {
    // Only the first plant of an added id is 'added'; repetitions in the batch compare with it.
    if (added.delete(plant.id)) return 'added'
    const stored = plantById.get(plant.id) as NewPlant
    return isSamePlant(plant, stored) ? 'unchanged' : 'conflict'
  })
}

/** How often a plant may be neither added nor visible. */
const maxTries = 3

/** A trigger or a row policy hides the plant. */
function hiddenPlantError ([hidden]: NewPlant[]): Error {
  const problem = `plant ${hidden?.id} was not added, and the database does not show it`
  return new PermanentError(`${problem}; remove the trigger or row policy of the table plants`)
}

function toPlant ({ id, name, tag }: PlantRow): NewPlant {
  return plantOf({ id: BigInt(id), name, tag: tag ?? undefined })
}

/**
 * Fails unless addMany() may run its statements and the table has its primary key. Adds nothing.
 */
export async function checkRights (query: Query, dialect: Dialect): Promise<void> {
  const plants = `${dialect.schema}.plants`
  await query(`INSERT INTO ${plants} (${columnNames})
  SELECT ${columnNames} FROM ${plants} WHERE false
  ON CONFLICT (id) DO NOTHING RETURNING id`)
  await query(`${dialect.selectExisting} LIMIT 0`, [[]])
}

/**
 * Resolves once the configured standbys have everything that was committed before, also by a run
 * whose connection broke. On Citus it confirms nothing on the shards.
 */
export async function confirmCommits (query: Query, dialect: Dialect): Promise<void> {
  await query(dialect.selectExisting, [[]])
}
