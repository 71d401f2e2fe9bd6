// npm run bench -- stores: throughput of SQLite without HTTP, by the plants that it holds.
import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { openStore } from '../../src/stores/open.ts'
import { folder, printMedians, readSettings, repeat, type Sample } from './harness.ts'
import { p99 } from './statistics.ts'

const { rounds, seconds, sizes } = readSettings({
  rounds: 5,
  seconds: 2,
  /** How many plants SQLite holds before each measurement. */
  sizes: [0, 10_000, 1_000_000, 10_000_000]
})
const clients = 64
const maxQueue = 1000
const plant = { name: 'Boston fern', tag: 'fern' }
/** Ids in order are below this one. */
const firstRandomId = 1n << 53n

const inOrder: Sample[] = []
const atRandom: Sample[] = []
await repeat(rounds, async () => {
  for (const size of sizes) {
    inOrder.push(await measureSqlite(size, false))
    atRandom.push(await measureSqlite(size, true))
  }
})
const conditions = `${rounds} rounds of ${seconds} s, ${clients} clients`
printMedians(`Ids in order, ${conditions}`, inOrder, ['plants/s'])
printMedians(`Ids at random, ${conditions}`, atRandom, ['plants/s'])

/** Runs all clients; each adds one plant after another. */
async function load (name: string, addPlant: () => Promise<unknown>): Promise<Sample> {
  const latencies: number[] = []
  const began = performance.now()
  const until = began + seconds * 1000
  const runClient = async () => {
    while (performance.now() < until) {
      const sent = performance.now()
      await addPlant()
      latencies.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: clients }, runClient))
  const perSecond = latencies.length / (performance.now() - began) * 1000
  return { name, figures: { 'plants/s': perSecond, 'p99 ms': p99(latencies) } }
}

/** Measures a store of this size. A small one is filled again, because the load makes it grow. */
async function measureSqlite (size: number, isRandom: boolean): Promise<Sample> {
  const path = join(folder, `plants-${size}.db`)
  if (size <= 1_000_000) rmSync(path, { force: true })
  let id = await fillSqlite(path, size)
  const randomId = () => BigInt(Math.floor(Math.random() * Number.MAX_SAFE_INTEGER))
  const nextId = () => isRandom ? firstRandomId + randomId() : id++
  const store = await openStore(`sqlite:${path}`, { maxQueue })
  const sample = await load(`${size} plants`, () => store.add({ id: nextId(), ...plant }))
  await store.close()
  return sample
}

/** Fills a database unless it has plants; returns the first free id after those in order. */
async function fillSqlite (path: string, size: number): Promise<bigint> {
  await (await openStore(`sqlite:${path}`, { maxQueue })).close()
  const database = new DatabaseSync(path, { readBigInts: true })
  const query = database.prepare('SELECT max(id) AS last FROM plants WHERE id < ?')
  const { last } = query.get(firstRandomId) as { last: bigint | null }
  if (last === null) {
    database.exec('PRAGMA synchronous = OFF')
    database.exec(`
      WITH RECURSIVE n(id) AS (
        SELECT 0 WHERE ${size} > 0 UNION ALL SELECT id + 1 FROM n WHERE id + 1 < ${size}
      )
      INSERT INTO plants SELECT id, '${plant.name}', '${plant.tag}' FROM n`)
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  return last === null ? BigInt(size) : last + 1n
}
