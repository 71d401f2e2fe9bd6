// The statements by which PostgreSQL and Citus make commits durable. The service reports a plant,
// new or stored before, only when no failover can lose it.
import type { NewPlant } from '../../plants/plant-store.ts'
import { columnNames } from './columns.ts'

export type Statement = [text: string, values: unknown[]]

/** The statements that differ by server and schema. */
export interface Dialect {
  /** The schema of the tables, as a part of a statement. */
  schema: string
  /** Each statement adds those of its plants whose ids are new, and returns these ids. */
  insertPlants: (plants: readonly NewPlant[]) => Statement[]
  /** Returns the plants with these ids, once no failover can lose them. */
  selectExisting: string
  /** Fails unless the table takes a plant, and leaves none there. Citus has not run it. */
  tryInsert?: string
}

/**
 * 'off', 'local' and 'remote_write' can lose a commit; 'remote_apply' is stronger than 'on'. A
 * cancelled wait for the standby shows only as a warning. Set both per transaction: behind a pooler
 * the next transaction may run on another connection.
 */
const setForCommit = `set_config('synchronous_commit',
  CASE current_setting('synchronous_commit')
  WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) ||
  set_config('client_min_messages', 'warning', true)`

const emitMessage = "pg_logical_emit_message(true, 'plant-store', '')"

/**
 * Its size does not depend on the batch, so PostgreSQL parses it faster than a list of rows. With
 * array_nulls = off, a NULL in an array would become the text NULL.
 */
const insertArrays = (schema: string) => `INSERT INTO ${schema}.plants (${columnNames})
  SELECT added.id, added.name, CASE WHEN added.tagged THEN added.tag END
  FROM (SELECT ${setForCommit}) AS settings,
    unnest($1::bigint[], $2::pg_catalog.text[], $3::pg_catalog.text[], $4::boolean[])
      AS added (id, name, tag, tagged)
  ON CONFLICT (id) DO NOTHING RETURNING id`

/**
 * After a crash a row may be visible that no standby has. The message makes the SELECT a commit,
 * which waits for the standby. FOR KEY SHARE would do so too, but needs the right to UPDATE.
 */
function postgresql (schema: string): Dialect {
  const insert = insertArrays(schema)
  return {
    schema,
    insertPlants: plants => [[insert, Object.values({
      id: plants.map(({ id }) => id),
      name: plants.map(({ name }) => name),
      tag: plants.map(({ tag = '' }) => tag),
      tagged: plants.map(({ tag }) => tag !== undefined)
    } satisfies Record<keyof NewPlant | 'tagged', unknown[]>)]],
    selectExisting: `SELECT ${columnNames} FROM ${schema}.plants WHERE id = ANY($1::bigint[])
  AND (SELECT ${setForCommit} <> '' AND ${emitMessage} IS NOT NULL)`,
    tryInsert: insertAndUndo(`${schema}.plants`)
  }
}

/** The first and the last id: a partition may be missing for one of them. */
const outermostIds = ['-9223372036854775808', '9223372036854775807']

/**
 * Only a row shows a key that is deferrable, a constraint that no plant meets, a trigger that drops
 * rows, or a missing partition. The inner block undoes the rows, so there is nothing to wait for.
 * With exit_on_error, the exception that undoes them would end the session.
 */
const insertAndUndo = (table: string) => `DO $probe$ BEGIN
  SET LOCAL synchronous_commit = off;
  SET LOCAL exit_on_error = off;
  BEGIN
    INSERT INTO ${table} (id, name)
      SELECT id, id::pg_catalog.text FROM unnest('{${outermostIds}}'::bigint[]) AS id
      ON CONFLICT (id) DO NOTHING;
    SET CONSTRAINTS ALL IMMEDIATE;
    IF (SELECT count(*) FROM ${table} WHERE id IN (${outermostIds})) < 2 THEN
      RAISE EXCEPTION 'a trigger drops rows, or a row policy hides them';
    END IF;
    RAISE SQLSTATE 'ENDED';
  EXCEPTION
    WHEN SQLSTATE 'ENDED' THEN
    WHEN raise_exception OR object_not_in_prerequisite_state THEN
      RAISE check_violation USING MESSAGE = SQLERRM;
  END;
END $probe$`

/**
 * Citus sends rows of VALUES to their shards, but collects those of a SELECT first. It runs a
 * subquery without FROM on the coordinator, but selected columns where the row and its standby are.
 */
function citus (schema: string): Dialect {
  return {
    schema,
    insertPlants (plants) {
      const statements: Statement[] = []
      for (let start = 0; start < plants.length; start += maxRows) {
        statements.push(insertRows(schema, plants.slice(start, start + maxRows)))
      }
      return statements
    },
    selectExisting: `SELECT ${columnNames}, ${setForCommit}, ${emitMessage}
  FROM ${schema}.plants WHERE id = ANY($1::bigint[])`
  }
}

/** A statement has at most 65,535 parameters. Longer ones than this are no faster. */
const maxRows = 1000

/** Citus calls functions on the coordinator, whose commit decides for all shards. */
const firstName = `CASE WHEN ${setForCommit} IS NOT NULL THEN $2 END`

function insertRows (schema: string, plants: readonly NewPlant[]): Statement {
  const values: unknown[] = []
  const rows: string[] = []
  for (const { id, name, tag = null } of plants) {
    const row = { id, name, tag } satisfies Record<keyof NewPlant, unknown>
    const marks = Object.values(row).map(value => `$${values.push(value)}`)
    if (rows.length === 0) marks[1] = firstName
    rows.push(`(${marks.join(', ')})`)
  }
  const text = `INSERT INTO ${schema}.plants (${columnNames}) VALUES ${rows.join()}
  ON CONFLICT (id) DO NOTHING RETURNING id`
  return [text, values]
}

/** @param server its schema is quoted where that is necessary */
export function dialectOf ({ hasCitus, schema }: { hasCitus: boolean, schema: string }): Dialect {
  return hasCitus ? citus(schema) : postgresql(schema)
}
