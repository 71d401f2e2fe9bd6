// npm run bench:stores: what the stores do by themselves. PostgreSQL with group commit beside an INSERT a plant, SQLite as
// it grows, and a copy of a million plants. It starts a PostgreSQL that npm carries.
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openStore } from '../src/stores/open.ts'
import { parseNumber, parseNumbers, readOptions } from './options.ts'
import { createPostgres } from './postgres.ts'
import { median, p99, ratio } from './statistics.ts'

const texts = readOptions({
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '2' },
  /** How many plants the store holds at each point of the curve. */
  sizes: { type: 'string', default: '0,10000,1000000,10000000' }
})
const rounds = parseNumber('rounds', texts.rounds)
const seconds = parseNumber('seconds', texts.seconds)
const sizes = parseNumbers('sizes', texts.sizes, 0)
const clients = 64

const endings: Array<() => unknown> = []
try {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-bench-'))
  endings.push(() => rm(folder, { recursive: true }))
  const postgres = await createPostgres()
  endings.push(postgres.remove)
  await postgres.start()
  console.log(`medians of ${rounds} rounds of ${seconds} s, ${clients} clients, Node ${process.version}`)
  await compareWithInserts(postgres.url)
  await grow(folder)
  copyMillion(folder, postgres.url)
} finally {
  for (const end of endings.reverse()) await end()
}

type Add = (id: bigint) => Promise<unknown>
interface Figures { perSecond: number, p99: number }

/** Adds plants one after the other from every client; ids in order from `first`, or at random. */
async function load (add: Add, nextId: () => bigint): Promise<Figures> {
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

function typical (figures: Figures[], of: keyof Figures): number {
  return median(figures.map(figure => figure[of]))
}

async function compareWithInserts (url: string): Promise<void> {
  const store = await openStore(url, { maxQueue: 1000 })
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  let id = 0n
  const next = () => id++
  const single: Figures[] = []
  const grouped: Figures[] = []
  for (let round = 0; round < rounds; round++) {
    single.push(await load(id => pool.query('INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [id, 'Boston fern', 'fern']), next))
    grouped.push(await load(id => store.add({ id, name: 'Boston fern', tag: 'fern' }), next))
  }
  await pool.end()
  await store.close()
  const [a, b] = [typical(grouped, 'perSecond'), typical(single, 'perSecond')]
  console.log(`PostgreSQL: ${Math.round(a)}/s, an INSERT a plant through a pool of the same size ${Math.round(b)}/s, ratio ${(a / b).toFixed(1)}`)
}

/** The throughput of SQLite at each size, of that of the empty store; each round measures all sizes in turn. */
async function grow (folder: string): Promise<void> {
  const figures = new Map(sizes.map(size => [size, { inOrder: [] as Figures[], atRandom: [] as Figures[] }]))
  for (let round = 0; round < rounds; round++) {
    for (const [size, { inOrder, atRandom }] of figures) {
      inOrder.push(await measure(folder, size, first => () => first++))
      // Beyond all that are in order.
      atRandom.push(await measure(folder, size, () => () => BigInt(Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)) + (1n << 53n)))
    }
  }
  const empty = figures.get(sizes[0] as number)
  console.table(Object.fromEntries(Array.from(figures, ([size, { inOrder, atRandom }]) => [`SQLite, ${size.toLocaleString('en')} plants`, {
    'in order /s': Math.round(typical(inOrder, 'perSecond')),
    'of empty': ratio(typical(inOrder, 'perSecond'), typical(empty?.inOrder ?? [], 'perSecond')),
    'p99 ms': typical(inOrder, 'p99').toFixed(1),
    'at random /s': Math.round(typical(atRandom, 'perSecond')),
    'random of empty': ratio(typical(atRandom, 'perSecond'), typical(empty?.atRandom ?? [], 'perSecond')),
    'random p99 ms': typical(atRandom, 'p99').toFixed(1)
  }])))
}

/** Measures a store of this size; one that is quick to fill is made anew, as what is measured makes it grow. */
async function measure (folder: string, size: number, ids: (first: bigint) => () => bigint): Promise<Figures> {
  const path = join(folder, `plants-${size}.db`)
  if (size <= 1_000_000) await rm(path, { force: true })
  await (await openStore(`sqlite:${path}`, { maxQueue: 1 })).close()
  const filled = fill(path, size)
  const store = await openStore(`sqlite:${path}`, { maxQueue: 1000 })
  const figures = await load(id => store.add({ id, name: 'Boston fern', tag: 'fern' }), ids(filled))
  await store.close()
  return figures
}

/** Fills an empty database; gives the first id above those that are in order. */
function fill (path: string, size: number): bigint {
  const database = new DatabaseSync(path, { readBigInts: true })
  const { last } = database.prepare('SELECT max(id) AS last FROM plants WHERE id < 1 << 53').get() as { last: bigint | null }
  // What the copy adds first, and what was added at random, is not of those.
  if ((last ?? -1n) < 0n) database.exec(`PRAGMA synchronous = OFF; WITH RECURSIVE n(id) AS (SELECT 0 WHERE ${size} > 0 UNION ALL SELECT id + 1 FROM n WHERE id + 1 < ${size}) INSERT INTO plants SELECT id, 'Boston fern', 'fern' FROM n`)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  return (last ?? -1n) < 0n ? BigInt(size) : BigInt(last as bigint) + 1n
}

function copyMillion (folder: string, postgres: string): void {
  const path = join(folder, 'million.db')
  const empty = spawnSync(process.execPath, ['src/copy.ts', '-', `sqlite:${path}`], { input: '{"id":-1,"name":"x"}\n', encoding: 'utf8' })
  if (empty.status !== 0) throw new Error(empty.stderr)
  fill(path, 1_000_000)
  // Other ids than those that the comparison above has added.
  const database = new DatabaseSync(path)
  database.exec('UPDATE plants SET id = id - 2000000')
  database.close()
  const peak = "process.on('exit', () => console.error('peak', Math.round(process.resourceUsage().maxRSS / 1024), 'MiB'))"
  const { stderr } = spawnSync(process.execPath, ['--import', `data:text/javascript,${peak}`, 'src/copy.ts', `sqlite:${path}`, postgres], { encoding: 'utf8' })
  // The storage thread ends with the peak of the process as well.
  const told = new Set(stderr.split('\n').filter(line => /added|peak/.test(line)))
  console.log(`copy, SQLite to PostgreSQL: ${[...told].join('; ')}`)
}
