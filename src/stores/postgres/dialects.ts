// The statements by which PostgreSQL and its kin make commits durable. The service reports a plant,
// new or stored before, only when no failover can lose it.

/** The statements that differ. */
export interface Dialect {
  /** Adds the plants whose ids are new, and returns these ids. */
  insertPlants: string
  /** Returns the plants with these ids, once no failover can lose them. */
  selectExisting: string
  /** Whether synchronous_commit decides if a commit can be lost. */
  hasSynchronousCommit: boolean
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

function insertFrom (source: string): string {
  return `INSERT INTO plants (id, name, tag)
  SELECT added.* FROM ${source}unnest($1::bigint[], $2::text[], $3::text[]) AS added
  ON CONFLICT (id) DO NOTHING RETURNING id`
}

/**
 * After a crash a row may be visible that no standby has. The message makes the SELECT a commit,
 * which waits for the standby. FOR KEY SHARE would do so too, but needs the right to UPDATE.
 */
export const postgresql: Dialect = {
  insertPlants: insertFrom(`${setSynchronousCommit}, `),
  selectExisting: `${selectById}
  AND (SELECT ${setSynchronousCommit} <> '' AND ${emitMessage} IS NOT NULL)`,
  hasSynchronousCommit: true
}

/**
 * Citus runs a subquery without FROM on the coordinator, but selected columns where the row and its
 * standby are.
 */
const citus: Dialect = {
  ...postgresql,
  selectExisting: selectById.replace(' FROM', `, ${setSynchronousCommit}, ${emitMessage} FROM`)
}

/** CockroachDB and YugabyteDB: a visible row is on a majority of its replicas already. */
const consensus: Dialect = {
  insertPlants: insertFrom(''),
  selectExisting: selectById,
  hasSynchronousCommit: false
}

/** @param server what its version() returns, and whether it has the extension Citus */
export function dialectOf ({ version, hasCitus }: { version: string, hasCitus: boolean }): Dialect {
  if (/^CockroachDB |-YB-/.test(version)) return consensus
  return hasCitus ? citus : postgresql
}
