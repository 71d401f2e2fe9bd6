// One simulated PostgreSQL server: its tables, the locks of its transactions, and the statements of
// the engine.
import { columnNames, columns } from '../../../src/stores/postgres/columns.ts'
import type { Session } from './network.ts'
import type { World } from './world.ts'

export interface Row { id: bigint, name: string, tag: string | null }

/** The tables of one server; undefined for a table that does not exist. */
export interface Data { plants: Map<bigint, Row> | undefined, version: number | undefined }

export interface Server {
  name: string
  role: 'primary' | 'standby' | 'starting' | 'down'
  data: Data
  /** The transactions that insert these ids. */
  owners: Map<bigint, Transaction>
  /** Commits that the standby does not have. */
  log: Commit[]
  sessions: Set<Session>
  statements: Set<Statement>
}

/** A commit that only one server has. */
export interface Commit {
  apply: (data: Data) => void
  /** The standby has received the commit, and has it on its disk. */
  written: PromiseWithResolvers<undefined>
  flushed: PromiseWithResolvers<undefined>
  isVisible: boolean
}

interface Transaction { ended: PromiseWithResolvers<undefined>, waitsFor: Transaction | undefined }

export interface Statement {
  text: string
  values: unknown[]
  interrupted: PromiseWithResolvers<Interruption>
  /** It waits for the standby. */
  isWaiting: boolean
  warn: (warning: Warning) => void
}

/** What PostgreSQL reports beside the result of a statement. */
export interface Warning { code: string, routine: string, message: string }

/** What a commit waits for, the weakest first. */
export const commitLevels = ['local', 'remote_write', 'on', 'remote_apply'] as const
type CommitLevel = typeof commitLevels[number]

export type Interruption = 'cancel' | 'terminate' | 'crash'
export type Rows = Array<Record<string, unknown>>

export interface DatabaseOptions {
  /** Without, every commit is durable at once, and no failover is possible. */
  isReplicated: boolean
  /** The setting of the database, which a statement may raise. */
  synchronousCommit: CommitLevel
  /** A trigger reports a warning for each insert. */
  hasWarnings: boolean
  /** Other statements run between two rows of an insert. */
  hasSlowInserts: boolean
  /** How probable 40001 is for an insert. */
  serializationRate: () => number
  onDeadlock: () => void
}

/** What the statements of all servers share. */
export interface Database extends DatabaseOptions {
  world: World
  /** What survives a failover. */
  durable: Data
  /** Lets the standby receive the commits of the primary. */
  replicate: () => void
}

export function createServer (name: string, role: Server['role'], data: Data): Server {
  return {
    name, role, data, owners: new Map(), log: [], sessions: new Set(), statements: new Set()
  }
}

export function copyOf ({ plants, version }: Data): Data {
  return { plants: plants && new Map(plants), version }
}

export function serverError (code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

export const connectionLost = (): Error => new Error('Connection terminated unexpectedly')

/** Runs a statement in its own transaction. */
export async function execute (
  database: Database, server: Server, statement: Statement
): Promise<Rows> {
  const text = statement.text.replace(/\s+/g, ' ')
  const handler = handlers.find(([pattern]) => pattern.test(text))?.[1]
  if (handler === undefined) {
    console.error(`The simulation does not know this statement: add it to test/proofs/simulation/server.ts. ${text}`)
    // The store would try it again, in each schedule.
    process.exit(1)
  }
  server.statements.add(statement)
  try {
    return await handler({ database, server, statement })
  } finally {
    server.statements.delete(statement)
  }
}

interface Call { database: Database, server: Server, statement: Statement }

const handlers: Array<[pattern: RegExp, handler: (call: Call) => Promise<Rows> | Rows]> = [
  [/^INSERT INTO public\.plants \(/, insert],
  [new RegExp(`^SELECT ${columnNames} FROM public\\.plants WHERE id = ANY`), selectExisting],
  [new RegExp(`^SELECT ${columnNames} FROM public\\.plants WHERE id >= `), selectPage],
  [/^SELECT count\(/, ({ server }) => [{ count: String(tableOf(server).size) }]],
  [/^WITH path AS/, ({ database: { synchronousCommit }, server: { role } }) => {
    const readOnly = role === 'standby' ? 'on' : 'off'
    return [
      {
        hasCitus: false,
        schema: 'public',
        ambiguous: null,
        elsewhere: null,
        commit: synchronousCommit,
        encoding: 'UTF8',
        readOnly,
        isStandby: role === 'standby'
      }
    ]
  }],
  [/^WITH RECURSIVE tables/, ({ server: { data } }) => {
    if (data.plants === undefined) return []
    return Object.entries(columns).map(([name, { type }]) => ({ name, type }))
  }],
  [/^SELECT version FROM public\.plants_schema/, ({ server: { data: { version } } }) => {
    if (version === undefined) throw serverError('42P01', 'relation "plants_schema" does not exist')
    return [{ version }]
  }],
  [
    /^CREATE TABLE IF NOT EXISTS public\.plants_schema/,
    call => changeSchema(call, data => { data.version ??= 0 })
  ],
  [/^INSERT INTO public\.plants_schema/, call => changeSchema(call, () => {})],
  [
    /^CREATE TABLE IF NOT EXISTS public\.plants /,
    call => changeSchema(call, data => { data.plants ??= new Map() })
  ],
  // Tables of further operations, which no schedule uses.
  [/^CREATE TABLE IF NOT EXISTS public\./, call => changeSchema(call, () => {})],
  // The table has every column of the plants from the start.
  [/^ALTER TABLE public\.plants /, call => changeSchema(call, () => {})],
  [/^DO \$probe\$ /, call => {
    refuseReadOnly(call)
    return []
  }],
  [/^UPDATE public\.plants_schema/, call => changeSchema(call, data => {
    data.version = Math.max(data.version ?? 0, Number(call.statement.values[0]))
  })]
]

async function insert (call: Call): Promise<Rows> {
  const { database, server, statement } = call
  const { world } = database
  const [ids = []] = statement.values as [bigint[]?]
  const table = tableOf(server)
  refuseReadOnly(call)
  const transaction: Transaction = { ended: Promise.withResolvers(), waitsFor: undefined }
  const { owners } = server
  const rows: Row[] = []
  try {
    for (const [index, id] of ids.entries()) {
      if (database.hasSlowInserts) await pause(call)
      for (let owner = owners.get(id); owner !== undefined; owner = owners.get(id)) {
        await waitFor(owner, transaction, call)
      }
      if (table.has(id)) continue
      owners.set(id, transaction)
      rows.push(rowOf(statement, index))
    }
    if (world.chance(database.serializationRate())) {
      world.count('error: 40001')
      throw serverError('40001', 'could not serialize access')
    }
    if (database.hasWarnings && rows.length > 0) {
      world.count('met: a harmless warning')
      statement.warn({ code: '01000', routine: 'exec_stmt_raise', message: 'a trigger warns' })
    }
    if (rows.length > 0) await commit(call, data => { for (const row of rows) addRow(data, row) })
  } finally {
    for (const { id } of rows) owners.delete(id)
    transaction.ended.resolve(undefined)
  }
  if (ids.some(id => !database.durable.plants?.has(id))) {
    world.count(
      'met: existing plant that no standby has'
    )
  }
  return rows.map(({ id }) => ({ id: String(id) }))
}

function rowOf ({ values }: Statement, index: number): Row {
  const [ids, names, tags, tagged] = values as [bigint[], string[], string[], boolean[]]
  const tag = tagged[index] === true ? tags[index] as string : null
  return { id: ids[index] as bigint, name: names[index] as string, tag }
}

async function pause ({ database: { world }, statement: { interrupted } }: Call): Promise<void> {
  if (await Promise.race(
    [world.sleep(world.between(0, 5)), interrupted.promise]
  ) !== undefined) throw connectionLost()
}

/** Waits for the end of a transaction that inserts the same id. */
async function waitFor (
  owner: Transaction, transaction: Transaction, { database, statement }: Call
): Promise<void> {
  database.world.count('met: wait for another transaction')
  transaction.waitsFor = owner
  for (let other = owner.waitsFor; other !== undefined; other = other.waitsFor) {
    if (other === transaction) {
      database.onDeadlock()
      throw serverError('40P01', 'deadlock detected')
    }
  }
  const interruption = await Promise.race([owner.ended.promise, statement.interrupted.promise])
  transaction.waitsFor = undefined
  if (interruption === 'cancel') {
    throw serverError(
      '57014', 'canceling statement due to user request'
    )
  }
  if (interruption !== undefined) throw connectionLost()
}

async function selectExisting (call: Call): Promise<Rows> {
  const { server, statement: { text, values } } = call
  const [ids] = values as [bigint[]]
  const table = tableOf(server)
  const rows = ids.flatMap(id => table.get(id) ?? [])
  const isCommit = text.includes('pg_logical_emit_message(true') && !text.endsWith('LIMIT 0')
  if (isCommit && server.role === 'standby') {
    call.database.world.count('error: XX000 on the standby')
    throw serverError('XX000', 'cannot assign TransactionIds during recovery')
  }
  if (isCommit) await commit(call, () => {})
  return rows.map(toRecord)
}

function selectPage ({ server, statement: { values } }: Call): Rows {
  const [from, limit] = values as [bigint, number]
  const rows = [...tableOf(server).values()].filter(({ id }) => id >= from)
  return rows.sort((a, b) => a.id < b.id ? -1 : 1).slice(0, limit).map(toRecord)
}

/** The members that no simulated plant has. */
const absent = Object.fromEntries(Object.keys(columns).map(name => [name, null]))
const toRecord = (row: Row) => ({ ...absent, ...row, id: String(row.id) })

async function changeSchema (call: Call, apply: (data: Data) => void): Promise<Rows> {
  refuseReadOnly(call)
  await commit(call, apply)
  return []
}

function refuseReadOnly ({ database: { world }, server: { role } }: Call): void {
  if (role === 'primary') return
  world.count('error: 25006')
  throw serverError('25006', 'cannot execute this in a read-only transaction')
}

/** Waits for the standby, if the statement asks for it, before others see the change. */
async function commit (
  { database, server, statement }: Call, apply: (data: Data) => void
): Promise<void> {
  const { isReplicated, synchronousCommit, world, durable } = database
  if (!isReplicated) {
    apply(durable)
    return apply(server.data)
  }
  const written = Promise.withResolvers<undefined>()
  const flushed = Promise.withResolvers<undefined>()
  const commit: Commit = { apply, written, flushed, isVisible: false }
  server.log.push(commit)
  database.replicate()
  let interruption: Interruption | undefined
  const level = levelOf(statement, synchronousCommit)
  if (level !== 'local') {
    const { promise } = level === 'remote_write' ? written : flushed
    statement.isWaiting = true
    interruption = await Promise.race([promise, statement.interrupted.promise])
    statement.isWaiting = false
  }
  if (interruption === 'crash') throw connectionLost()
  show(server, commit)
  if (interruption !== undefined) world.count('met: commit without the standby')
  if (interruption === 'terminate') throw connectionLost()
  if (interruption === 'cancel') {
    const message = 'canceling wait for synchronous replication due to user request'
    statement.warn({ code: '01000', routine: 'SyncRepWaitForLSN', message })
  }
}

/** The level that a statement sets for its transaction, depending on that of the database. */
function levelOf ({ text }: Statement, ofDatabase: CommitLevel): CommitLevel {
  const [, cases = '', otherwise] = setLevel.exec(text) ?? []
  if (otherwise === undefined) {
    if (!text.includes("'synchronous_commit'")) return ofDatabase
    throw new Error(`The simulation does not understand how this sets synchronous_commit: ${text}`)
  }
  const chosen = new RegExp(`WHEN '${ofDatabase}' THEN '(\\w+)'`).exec(cases)?.[1] ?? otherwise
  const level = commitLevels.find(level => level === chosen)
  if (level === undefined) throw new Error(`The simulation does not know the level ${chosen}`)
  return level
}

const setLevel = new RegExp([
  "set_config\\('synchronous_commit',\\s*CASE current_setting\\('synchronous_commit'\\)",
  "((?:\\s*WHEN '\\w+' THEN '\\w+')*)\\s*ELSE '(\\w+)' END, true\\)"
].join(''))

/** Lets others see a commit. */
export function show ({ data }: Server, commit: Commit): void {
  if (!commit.isVisible) commit.apply(data)
  commit.isVisible = true
}

function tableOf ({ data }: Server): Map<bigint, Row> {
  if (data.plants === undefined) throw serverError('42P01', 'relation "plants" does not exist')
  return data.plants
}

function addRow ({ plants }: Data, row: Row): void {
  if (plants?.has(row.id) === true) {
    throw new Error(
    `The simulation stored the plant ${row.id} twice`
    )
  }
  plants?.set(row.id, row)
}
