// The table of the plants: the migrations that create it, and its columns.
import type { NewPlant } from '../../plants/plant-store.ts'

/**
 * SQL that leads to the schema of each version from the one before. It must be safe to run twice:
 * services that start together may both run it. A client of a pooler may have a temporary table
 * named text, which would be the type.
 */
export const migrations = {
  1: (schema: string) => `CREATE TABLE IF NOT EXISTS ${schema}.plants
  (id bigint PRIMARY KEY, name pg_catalog.text NOT NULL, tag pg_catalog.text)`
}
/** The version of the schema after all of them. */
export const newest = Object.keys(migrations).length

interface Column {
  /** The name of the type in `pg_type`: `bool`, not `boolean`. */
  type: string
  /** The migration that adds it. */
  since: keyof typeof migrations
}
/** The column of each member of a plant. */
export const columns = {
  id: { type: 'int8', since: 1 },
  name: { type: 'text', since: 1 },
  tag: { type: 'text', since: 1 }
} satisfies Record<keyof NewPlant, Column>

/** All of them, as a part of a statement: in quotes PostgreSQL keeps their capitals. */
export const columnNames = Object.keys(columns).map(name => `"${name}"`).join(', ')
