// The PostgreSQL engine: wires connections, retries and statements.
import type pg from 'pg'
import { retry } from '../retry.ts'
import type { Engine } from '../group-commit.ts'
import { openPool } from './connections.ts'
import { isTransient } from './errors.ts'
import { addMany, countPlants, selectPage } from './plants.ts'
import type { Query } from './plants.ts'
import { prepare } from './schema.ts'

/**
 * Connects to a database and creates missing tables. Any number of services may share one database.
 * @param url postgres://user:password@host:port/database?options, or postgresql://
 * @throws Error that says why the database cannot be used
 */
export async function postgresEngine (url: string): Promise<Engine> {
  const pool = openPool(url)
  const query: Query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<Row>(text, values)).rows
  const call = <Result>(work: () => Promise<Result>) => retry(work, isTransient)
  const check = () => call(() => prepare(query, () => pool.connect()))

  try {
    await check()
  } catch (error) {
    await pool.end()
    throw new Error(`The PostgreSQL database cannot be used: ${(error as Error).message}.`, { cause: error })
  }
  return {
    addMany: plants => call(() => addMany(query, plants)),
    page: (from, limit) => call(() => selectPage(query, from, limit)),
    count: () => call(() => countPlants(query)),
    check,
    close: () => pool.end()
  }
}
