// Fills databases for benchmarks, faster than the store would.
import { DatabaseSync } from 'node:sqlite'
import { openStore } from '../../src/stores/open.ts'

export const plant = { name: 'Boston fern', tag: 'fern' }
/** Ids in order are below this one. */
export const firstRandomId = 1n << 53n

/** Fills a database unless it has plants already; returns the first free id after those in order. */
export async function fillSqlite (path: string, size: number): Promise<bigint> {
  await (await openStore(`sqlite:${path}`, { maxQueue: 1 })).close()
  const database = new DatabaseSync(path, { readBigInts: true })
  const query = database.prepare('SELECT max(id) AS last FROM plants WHERE id < ?')
  const { last } = query.get(firstRandomId) as { last: bigint | null }
  if (last === null) {
    database.exec('PRAGMA synchronous = OFF')
    database.exec(`
      WITH RECURSIVE n(id) AS (SELECT 0 WHERE ${size} > 0 UNION ALL SELECT id + 1 FROM n WHERE id + 1 < ${size})
      INSERT INTO plants SELECT id, '${plant.name}', '${plant.tag}' FROM n`)
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  return last === null ? BigInt(size) : last + 1n
}
