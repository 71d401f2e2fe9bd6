// npm run bench:stores: throughput of the stores without HTTP. PostgreSQL with group commit beside one INSERT per
// plant, SQLite at several sizes, and a copy of a million plants. The PostgreSQL is a temporary one.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openStore } from '../../src/stores/open.ts'
import { fillSqlite, firstRandomId, plant } from './fill.ts'
import { parseNumber, parseNumbers, readOptions } from '../options.ts'
import { preparePostgres } from './postgres.ts'
import { median, p99, ratio } from './statistics.ts'

const texts = readOptions({
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '2' },
  /** How many plants SQLite holds before each measurement. */
  sizes: { type: 'string', default: '0,10000,1000000,10000000' }
})
const rounds = parseNumber('rounds', texts.rounds)
const seconds = parseNumber('seconds', texts.seconds)
const sizes = parseNumbers('sizes', texts.sizes, 0)
const clients = 64
const maxQueue = 1000

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 5 }))
const postgres = await preparePostgres(folder)
await postgres.initialise()
try {
  await postgres.start()
  console.log(`medians of ${rounds} rounds of ${seconds} s, ${clients} clients, Node ${process.version}`)
  await compareWithInserts(postgres.url)
  await compareSizes()
  await copyMillion(postgres.url)
} finally {
  await postgres.stop()
}

interface Figures { perSecond: number, p99: number }

/** Runs all clients; each adds one plant after another. */
async function load (add: (id: bigint) => Promise<unknown>, nextId: () => bigint): Promise<Figures> {
  const latencies: number[] = []
  const began = performance.now()
  const until = began + seconds * 1000
  await Promise.all(Array.from({ length: clients }, async () => {
    while (performance.now() < until) {
      const sent = performance.now()
      await add(nextId())
      latencies.push(performance.now() - sent)
    }
  }))
  return { perSecond: latencies.length / (performance.now() - began) * 1000, p99: p99(latencies) }
}

function summarize (rounds: Figures[]): Figures {
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p99: median(rounds.map(({ p99 }) => p99))
  }
}

async function compareWithInserts (url: string): Promise<void> {
  const store = await openStore(url, { maxQueue })
  // As many connections as the store has.
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  const insert = 'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'
  let id = 0n
  const nextId = () => id++
  const inserts: Figures[] = []
  const groups: Figures[] = []
  for (let round = 0; round < rounds; round++) {
    inserts.push(await load(id => pool.query(insert, [id, plant.name, plant.tag]), nextId))
    groups.push(await load(id => store.add({ id, ...plant }), nextId))
  }
  await pool.end()
  await store.close()
  const [group, single] = [summarize(groups).perSecond, summarize(inserts).perSecond]
  console.log([
    `PostgreSQL: ${Math.round(group)}/s with group commit`,
    `${Math.round(single)}/s with one INSERT per plant`,
    `ratio ${ratio(group, single)}`
  ].join(', '))
}

/** Measures SQLite at each size, with ids in order and at random; ratios are to the first size. */
async function compareSizes (): Promise<void> {
  const results = sizes.map(size => ({ size, inOrder: [] as Figures[], atRandom: [] as Figures[] }))
  for (let round = 0; round < rounds; round++) {
    for (const { size, inOrder, atRandom } of results) {
      inOrder.push(await measureSqlite(size, first => () => first++))
      atRandom.push(await measureSqlite(size, () => randomId))
    }
  }
  printSizes(results.map(({ size, inOrder, atRandom }) =>
    ({ size, inOrder: summarize(inOrder), atRandom: summarize(atRandom) })))
}

function printSizes (sizes: Array<{ size: number, inOrder: Figures, atRandom: Figures }>): void {
  const [first] = sizes
  if (first === undefined) return
  const rows = sizes.map(({ size, inOrder, atRandom }) => [`SQLite, ${size.toLocaleString('en')} plants`, {
    'in order /s': Math.round(inOrder.perSecond),
    'of first': ratio(inOrder.perSecond, first.inOrder.perSecond),
    'p99 ms': inOrder.p99.toFixed(1),
    'at random /s': Math.round(atRandom.perSecond),
    'random of first': ratio(atRandom.perSecond, first.atRandom.perSecond),
    'random p99 ms': atRandom.p99.toFixed(1)
  }])
  console.table(Object.fromEntries(rows))
}

function randomId (): bigint {
  return firstRandomId + BigInt(Math.floor(Math.random() * Number.MAX_SAFE_INTEGER))
}

/** Measures a store of this size. A small one is filled again each time, because the load makes it grow. */
async function measureSqlite (size: number, ids: (first: bigint) => () => bigint): Promise<Figures> {
  const path = join(folder, `plants-${size}.db`)
  if (size <= 1_000_000) rmSync(path, { force: true })
  const first = await fillSqlite(path, size)
  const store = await openStore(`sqlite:${path}`, { maxQueue })
  const figures = await load(id => store.add({ id, ...plant }), ids(first))
  await store.close()
  return figures
}

async function copyMillion (url: string): Promise<void> {
  const path = join(folder, 'million.db')
  await fillSqlite(path, 1_000_000)
  const database = new DatabaseSync(path)
  // PostgreSQL has plants with the same ids from the comparison with INSERT.
  database.exec('UPDATE plants SET id = id - 2000000')
  database.close()
  const peak = 'Math.round(process.resourceUsage().maxRSS / 1024)'
  const printPeak = `process.on('exit', () => console.error('peak', ${peak}, 'MiB'))`
  const copy = join(import.meta.dirname, '../../src/commands/copy.ts')
  const args = ['--import', `data:text/javascript,${printPeak}`, copy, `sqlite:${path}`, url]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  // The storage thread prints the same peak, because it imports the same code.
  const lines = new Set(stderr.split('\n').filter(line => /added|peak/.test(line)))
  console.log(`copy, SQLite to PostgreSQL: ${[...lines].join('; ')}`)
}
