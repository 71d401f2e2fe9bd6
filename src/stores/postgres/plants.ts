// The statements on plants: one adds a batch, and rows are never changed.
import type pg from 'pg'
import type { NewPlant, Outcome } from '../../plants/plant-store.ts'
import { PermanentError } from './errors.ts'

/** Runs one statement, outside of a transaction. */
export type Query = <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>

/** A row, with the id as decimal digits. */
interface PlantRow { id: string, name: string, tag: string | null }

/**
 * Adds the first plant of each id, and compares all others with the stored ones.
 * Sorted ids prevent deadlocks between services that add the same ids.
 */
export async function addMany (query: Query, plants: readonly NewPlant[]): Promise<Outcome[]> {
  const plantById = new Map<bigint, NewPlant>()
  for (const plant of plants) if (!plantById.has(plant.id)) plantById.set(plant.id, plant)
  const firstOfEachId = [...plantById.values()].sort((a, b) => a.id < b.id ? -1 : 1)
  const inserted = await query<{ id: string }>(insertPlants, [
    firstOfEachId.map(({ id }) => id),
    firstOfEachId.map(({ name }) => name),
    firstOfEachId.map(({ tag = null }) => tag)
  ])
  const added = new Set(inserted.map(({ id }) => BigInt(id)))
  const existingIds = firstOfEachId.filter(({ id }) => !added.has(id)).map(({ id }) => id)
  if (existingIds.length > 0) {
    const rows = await query<PlantRow>(selectExisting, [existingIds])
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

/**
 * 'off', 'local' and 'remote_write' can lose a commit; 'remote_apply' is stronger than 'on'. Set it per transaction:
 * behind a pooler the next transaction may run on another connection.
 */
const setSynchronousCommit = `set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)`

const insertPlants = `INSERT INTO plants (id, name, tag)
  SELECT added.* FROM ${setSynchronousCommit}, unnest($1::bigint[], $2::text[], $3::text[]) AS added
  ON CONFLICT (id) DO NOTHING RETURNING id`

/**
 * After a crash a row may be visible that no standby has. The message makes this statement a commit, which waits for
 * the standby. FOR KEY SHARE would do so too, but needs the right to UPDATE.
 */
const selectExisting = `SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])
  AND (SELECT ${setSynchronousCommit} <> '' AND pg_logical_emit_message(true, 'plant-store', '') IS NOT NULL)`

/** Fails unless the statements above may run and the table has its primary key. Adds and confirms nothing. */
export async function checkRights (query: Query): Promise<void> {
  await query(insertPlants, [[], [], []])
  await query(`${selectExisting} LIMIT 0`, [[]])
}

/** Resolves once the configured standbys have everything that was committed before. */
export async function confirmCommits (query: Query): Promise<void> {
  await query(selectExisting, [[]])
}

/** A trigger or a row policy hides the plant, or a failover between the two statements lost it. */
function hiddenPlantError (ids: bigint[], rows: PlantRow[]): Error {
  const found = new Set(rows.map(({ id }) => BigInt(id)))
  return new PermanentError(`plant ${ids.find(id => !found.has(id))} was not added, and the database does not show it`)
}

export async function selectPage (query: Query, from: bigint, limit: number): Promise<NewPlant[]> {
  const select = 'SELECT id, name, tag FROM plants WHERE id >= $1 ORDER BY id LIMIT $2'
  const rows = await query<PlantRow>(select, [from, limit])
  return rows.map(toPlant)
}

export async function countPlants (query: Query): Promise<number> {
  const [row] = await query<{ count: string }>('SELECT count(*) FROM plants')
  return Number(row?.count)
}

function toPlant ({ id, name, tag }: PlantRow): NewPlant {
  return tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag }
}
