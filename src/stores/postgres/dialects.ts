// The statements by which PostgreSQL and Citus make commits durable. The service reports a plant,
// new or stored before, only when no failover can lose it.
import type { NewPlant } from '../../plants/plant-store.ts'

export type Statement = [text: string, values: unknown[]]

/** The statements that differ. */
export interface Dialect {
  /** Each statement adds those of its plants whose ids are new, and returns these ids. */
  insertPlants: (plants: readonly NewPlant[]) => Statement[]
  /** Returns the plants with these ids, once no failover can lose them. */
  selectExisting: string
}

/**
 * 'off', 'local' and 'remote_write' can lose a commit; 'remote_apply' is stronger than 'on'. Set it
 * per transaction: behind a pooler the next transaction may run on another connection.
 */
const setSynchronousCommit = `set_config('synchronous_commit',
  CASE current_setting('synchronous_commit')
  WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)`

const emitMessage = "pg_logical_emit_message(true, 'plant-store', '')"

const selectById = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])'

/** Its size does not depend on the batch, so PostgreSQL parses it faster than a list of rows. */
const insertArrays = `INSERT INTO plants (id, name, tag)
  SELECT added.* FROM ${setSynchronousCommit},
    unnest($1::bigint[], $2::text[], $3::text[]) AS added
  ON CONFLICT (id) DO NOTHING RETURNING id`

/**
 * After a crash a row may be visible that no standby has. The message makes the SELECT a commit,
 * which waits for the standby. FOR KEY SHARE would do so too, but needs the right to UPDATE.
 */
const postgresql: Dialect = {
  insertPlants: plants => [[insertArrays, [
    plants.map(({ id }) => id),
    plants.map(({ name }) => name),
    plants.map(({ tag = null }) => tag)
  ]]],
  selectExisting: `${selectById}
  AND (SELECT ${setSynchronousCommit} <> '' AND ${emitMessage} IS NOT NULL)`
}

/**
 * Citus sends rows of VALUES to their shards, but collects those of a SELECT first. It runs a
 * subquery without FROM on the coordinator, but selected columns where the row and its standby are.
 */
const citus: Dialect = {
  insertPlants (plants) {
    const statements: Statement[] = []
    for (let start = 0; start < plants.length; start += maxRows) {
      statements.push(insertRows(plants.slice(start, start + maxRows)))
    }
    return statements
  },
  selectExisting: selectById.replace(' FROM', `, ${setSynchronousCommit}, ${emitMessage} FROM`)
}

/** A statement has at most 65,535 parameters. Longer ones than this are no faster. */
const maxRows = 1000

/** Citus calls functions on the coordinator, whose commit decides for all shards. */
const firstName = `CASE WHEN ${setSynchronousCommit} IS NOT NULL THEN $2 END`

function insertRows (plants: readonly NewPlant[]): Statement {
  const values: unknown[] = []
  const rows: string[] = []
  for (const { id, name, tag = null } of plants) {
    const last = values.push(id, name, tag)
    rows.push(`($${last - 2}, ${last === 3 ? firstName : `$${last - 1}`}, $${last})`)
  }
  const text = `INSERT INTO plants (id, name, tag) VALUES ${rows.join()}
  ON CONFLICT (id) DO NOTHING RETURNING id`
  return [text, values]
}

export function dialectOf ({ hasCitus }: { hasCitus: boolean }): Dialect {
  return hasCitus ? citus : postgresql
}
