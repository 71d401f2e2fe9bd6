// A simulated PostgreSQL of two servers: a primary whose commits wait for the standby, and the ways in which it fails.
import type { World } from './world.ts'

export interface Row { id: bigint, name: string, tag: string | null }

/** The tables of one server; undefined for a table that does not exist. */
export interface Data { plants: Map<bigint, Row> | undefined, version: number | undefined }

export interface ClusterOptions {
  /** Without, every commit is durable at once, and no failover is possible. */
  isReplicated: boolean
  /** The services know both servers, or one address that leads to a server. */
  hosts: 1 | 2
  /** At the one address, a pooler sends each statement to the server that is the right one then. */
  isPooled: boolean
  /** The setting of the database, which a statement may raise. */
  synchronousCommit: 'local' | 'on'
  hasTables: boolean
  /** Other statements run between two rows of an insert. */
  hasSlowInserts: boolean
  onDeadlock: () => void
  rates: FaultRates
}

/** How probable a fault is for one statement. */
export type FaultRates = Partial<Record<StatementFault, number>>
type StatementFault = 'lostBefore' | 'lostAfter' | 'serialization' | 'slow' | 'hung' | 'noConnection'

export type Fault = 'crash' | 'failover' | 'standbyAway' | 'terminate' | 'cancelWaits'

type Interruption = 'cancel' | 'terminate' | 'crash'

/** A commit that only one server has. */
interface Commit { apply: (data: Data) => void, replicated: PromiseWithResolvers<undefined>, isVisible: boolean }

interface Transaction { ended: PromiseWithResolvers<undefined>, waitsFor: Transaction | undefined }

interface Statement {
  text: string
  values: unknown[]
  interrupted: PromiseWithResolvers<Interruption>
  /** It waits for the standby. */
  isWaiting: boolean
  warn: (message: string) => void
}

interface Server {
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

type Rows = Array<Record<string, unknown>>

/** A connection as a client has it. */
export interface Session {
  isOpen: boolean
  query: (text: string, values: unknown[]) => Promise<Rows>
  onWarning: (message: string) => void
  /** Ends the connection with an error. */
  lose: (error: Error) => void
  cancel: () => void
}

export interface Cluster {
  hosts: 1 | 2
  connect: (host: number) => Promise<Session>
  /** What survives a failover. */
  durable: () => Data
  /** Starts a fault, unless it is impossible now. */
  startFault: (name: Fault) => void
  /** Called once, after the next statement has taken effect and before its result arrives. */
  onStatement: (callback: () => void) => void
  /** Whether the standby could receive commits at this moment or later. */
  hadStandbySince: (moment: number) => boolean
  /** Stops all faults; resolves when the cluster is complete. */
  heal: () => Promise<void>
}

export function serverError (code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

const connectionLost = () => new Error('Connection terminated unexpectedly')

export function createCluster (world: World, options: ClusterOptions): Cluster {
  const { isReplicated, hosts } = options
  const durable: Data = options.hasTables
    ? { plants: new Map(), version: 1 }
    : { plants: undefined, version: undefined }
  const servers = [newServer('A', 'primary', copyOf(durable)), newServer('B', 'standby', durable)] as const
  let primary: Server = servers[0]
  /** Where the one address leads. */
  let address: Server = servers[0]
  let isStreaming = isReplicated
  let isReceiving = false
  let disconnectedAt = 0
  let isFailingOver = false
  let failovers = 0
  /** The pooler lets statements wait for the new primary. */
  const poolerHolds = options.isPooled && world.chance(0.5)
  const isHeld = () => poolerHolds && isFailingOver
  let isHealed = false
  let rates = options.rates
  const callbacks: Array<() => void> = []

  // Replication

  function receive (): void {
    if (isReceiving || !isStreaming || primary.role !== 'primary' || primary.log.length === 0) return
    isReceiving = true
    const from = primary
    world.after(world.between(0.1, 3), () => {
      isReceiving = false
      if (!isStreaming || from !== primary || from.role !== 'primary') return
      const count = 1 + Math.floor(world.random() * primary.log.length)
      for (const commit of primary.log.splice(0, count)) {
        commit.apply(durable)
        commit.replicated.resolve(undefined)
      }
      world.note(() => `standby: has ${count} more commits`)
      receive()
    })
  }

  async function commit (server: Server, statement: Statement, apply: (data: Data) => void): Promise<void> {
    const commit: Commit = { apply, replicated: Promise.withResolvers(), isVisible: false }
    if (!isReplicated) {
      apply(durable)
      return apply(server.data)
    }
    server.log.push(commit)
    receive()
    let interruption: Interruption | undefined
    if (options.synchronousCommit === 'on' || statement.text.includes("set_config('synchronous_commit'")) {
      statement.isWaiting = true
      interruption = await Promise.race([commit.replicated.promise, statement.interrupted.promise])
      statement.isWaiting = false
    }
    if (interruption === 'crash') throw connectionLost()
    show(server, commit)
    if (interruption !== undefined) world.count('met: commit without the standby')
    if (interruption === 'terminate') throw connectionLost()
    if (interruption === 'cancel') {
      statement.warn('canceling wait for synchronous replication due to user request')
    }
  }

  function show (server: Server, commit: Commit): void {
    if (!commit.isVisible) commit.apply(server.data)
    commit.isVisible = true
  }

  // Statements

  async function insert (server: Server, statement: Statement): Promise<Rows> {
    const [ids, names, tags] = statement.values as [bigint[], string[], Array<string | null>]
    const { owners } = server
    const transaction: Transaction = { ended: Promise.withResolvers(), waitsFor: undefined }
    const rows: Row[] = []
    try {
      for (const [index, id] of ids.entries()) {
        if (options.hasSlowInserts) await pauseInsert(statement)
        for (let owner = owners.get(id); owner !== undefined; owner = owners.get(id)) {
          await waitFor(owner, transaction, statement)
        }
        if (tableOf(server).has(id)) continue
        owners.set(id, transaction)
        rows.push({ id, name: names[index] ?? '', tag: tags[index] ?? null })
      }
      if (world.chance(rates.serialization ?? 0)) {
        world.count('error: 40001')
        throw serverError('40001', 'could not serialize access')
      }
      if (rows.length > 0) await commit(server, statement, data => { for (const row of rows) addRow(data, row) })
    } finally {
      for (const { id } of rows) owners.delete(id)
      transaction.ended.resolve(undefined)
    }
    if (ids.some(id => !durable.plants?.has(id))) world.count('met: existing plant that no standby has')
    return rows.map(({ id }) => ({ id: String(id) }))
  }

  async function pauseInsert ({ interrupted }: Statement): Promise<void> {
    if (await Promise.race([world.sleep(world.between(0, 2)), interrupted.promise]) !== undefined) throw connectionLost()
  }

  /** Waits for the end of a transaction that inserts the same id. */
  async function waitFor (owner: Transaction, transaction: Transaction, statement: Statement): Promise<void> {
    world.count('met: wait for another transaction')
    transaction.waitsFor = owner
    for (let other = owner.waitsFor; other !== undefined; other = other.waitsFor) {
      if (other === transaction) {
        options.onDeadlock()
        throw serverError('40P01', 'deadlock detected')
      }
    }
    const interruption = await Promise.race([owner.ended.promise, statement.interrupted.promise])
    transaction.waitsFor = undefined
    if (interruption === 'cancel') throw serverError('57014', 'canceling statement due to user request')
    if (interruption !== undefined) throw connectionLost()
  }

  async function selectExisting (server: Server, statement: Statement): Promise<Rows> {
    const [ids] = statement.values as [bigint[]]
    const table = tableOf(server)
    const rows = ids.flatMap(id => table.get(id) ?? [])
    const isCommit = statement.text.includes('pg_logical_emit_message(true') && !statement.text.endsWith('LIMIT 0')
    if (isCommit && server.role === 'standby') {
      world.count('error: XX000 on the standby')
      throw serverError('XX000', 'cannot assign TransactionIds during recovery')
    }
    if (isCommit) await commit(server, statement, () => {})
    return rows.map(row => ({ ...row, id: String(row.id) }))
  }

  async function changeSchema (server: Server, statement: Statement, apply: (data: Data) => void): Promise<Rows> {
    if (server.role === 'standby') throw serverError('25006', 'cannot execute in a read-only transaction')
    await commit(server, statement, apply)
    return []
  }

  const statements: Array<[RegExp, (server: Server, statement: Statement) => Promise<Rows> | Rows]> = [
    [/^INSERT INTO plants \(/, async (server, statement) => {
      tableOf(server)
      if (server.role === 'primary') return insert(server, statement)
      world.count('error: 25006')
      throw serverError('25006', 'cannot execute INSERT in a read-only transaction')
    }],
    [/^SELECT id, name, tag FROM plants WHERE id = ANY/, selectExisting],
    [/^SELECT id, name, tag FROM plants WHERE id >= /, (server, { values: [from, limit] }) => {
      const rows = [...tableOf(server).values()].filter(({ id }) => id >= (from as bigint))
      rows.sort((a, b) => a.id < b.id ? -1 : 1)
      return rows.slice(0, limit as number).map(row => ({ ...row, id: String(row.id) }))
    }],
    [/^SELECT count\(/, server => [{ count: String(tableOf(server).size) }]],
    [/^SELECT current_setting\(/, ({ role }) => {
      const readOnly = role === 'standby' ? 'on' : 'off'
      return [{ commit: options.synchronousCommit, encoding: 'UTF8', readOnly }]
    }],
    [/^SELECT attname/, ({ data }) => {
      const types = data.plants === undefined ? {} : { id: 'bigint', name: 'text', tag: 'text' }
      return Object.entries(types).map(([name, type]) => ({ name, type }))
    }],
    [/^SELECT version FROM plants_schema/, ({ data: { version } }) => {
      if (version === undefined) throw serverError('42P01', 'relation "plants_schema" does not exist')
      return [{ version }]
    }],
    [/^CREATE TABLE IF NOT EXISTS plants_schema/, (...call) => changeSchema(...call, data => { data.version ??= 0 })],
    [/^INSERT INTO plants_schema/, (...call) => changeSchema(...call, () => {})],
    [/^CREATE TABLE IF NOT EXISTS plants /, (...call) => changeSchema(...call, data => { data.plants ??= new Map() })],
    [/^UPDATE plants_schema/, (...call) => changeSchema(...call, data => { data.version = 1 })]
  ]

  async function execute (server: Server, statement: Statement): Promise<Rows> {
    const handler = statements.find(([pattern]) => pattern.test(statement.text))?.[1]
    if (handler === undefined) throw new Error(`The simulation does not know the statement ${statement.text}`)
    server.statements.add(statement)
    try {
      return await handler(server, statement)
    } finally {
      server.statements.delete(statement)
    }
  }

  // Connections

  async function connect (host: number): Promise<Session> {
    const server = hosts === 1 ? address : servers[host] as Server
    if (world.chance(rates.noConnection ?? 0)) {
      world.count('fault: noConnection')
      await world.sleep(world.pick([1, 2000, 10_000]))
      throw connectionLost()
    }
    await world.sleep(world.between(0.5, 4))
    if (options.isPooled) return openSession(server)
    if (server.role === 'down') throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    if (server.role === 'starting') throw serverError('57P03', 'the database system is starting up')
    // The pool asks a server whether it is read-only.
    if (hosts === 2 && server.role === 'standby') throw new Error('it is read-only')
    return openSession(server)
  }

  function openSession (server: Server): Session {
    const lost = Promise.withResolvers<never>()
    lost.promise.catch(() => {})
    let current: Statement | undefined

    async function send (text: string, values: unknown[]): Promise<Rows> {
      const interrupted = Promise.withResolvers<Interruption>()
      const warn = (message: string) => world.after(world.between(0.1, 1), () => session.onWarning(message))
      const statement: Statement = { text, values, interrupted, isWaiting: false, warn }
      const fault = drawFault()
      if (fault !== undefined) world.count(`fault: ${fault}`)
      await world.sleep(world.between(0.1, 1) + (fault === 'slow' ? world.between(500, 7000) : 0))
      if (fault === 'lostBefore') session.lose(connectionLost())
      if (fault === 'hung' && world.chance(0.3)) return await new Promise(() => {})
      if (fault === 'lostBefore' || !server.sessions.has(session)) return await lost.promise
      while (isHeld()) await world.sleep(world.between(1, 50))
      const target = options.isPooled ? address : server
      if (target.role === 'down' || target.role === 'starting') throw serverError('08006', 'server login failed')
      current = statement
      const rows = await execute(target, statement).finally(() => { current = undefined })
      callbacks.shift()?.()
      if (fault === 'lostAfter') session.lose(connectionLost())
      if (fault === 'hung') return await new Promise(() => {})
      // A warning arrives before the result.
      await world.sleep(world.between(1, 2))
      return rows
    }

    const session: Session = {
      isOpen: true,
      query: (text, values) => Promise.race([send(text, values), lost.promise]),
      onWarning: () => {},
      lose (error) {
        session.isOpen = false
        server.sessions.delete(session)
        lost.reject(error)
      },
      cancel: () => current?.interrupted.resolve('cancel')
    }
    server.sessions.add(session)
    return session
  }

  function drawFault (): StatementFault | undefined {
    const names = ['lostBefore', 'lostAfter', 'slow', 'hung'] as const
    return names.find(name => world.chance(rates[name] ?? 0))
  }

  // Faults

  /** The server stops; after its restart, all its commits are visible. */
  function stop (server: Server): void {
    server.role = 'down'
    for (const { interrupted } of server.statements) interrupted.resolve('crash')
    // A pooler keeps the connections of its clients.
    if (!options.isPooled) for (const session of server.sessions) session.lose(connectionLost())
    server.statements.clear()
    server.owners = new Map()
  }

  function crash (): boolean {
    const server = primary
    if (isFailingOver || server.role !== 'primary') return false
    stop(server)
    const isStopped = () => !isFailingOver && server === primary && server.role !== 'primary'
    world.after(world.between(50, 3000), () => { if (isStopped()) server.role = 'starting' })
    world.after(world.between(3000, 6000), () => {
      if (!isStopped()) return
      for (const commit of server.log) show(server, commit)
      server.role = 'primary'
      if (server.log.length > 0) world.count('met: visible after a crash, but not on the standby')
      world.note(() => `server ${server.name}: restarted, ${server.log.length} commits are visible that no standby has`)
      receive()
    })
    return true
  }

  function failover (): boolean {
    if (!isReplicated || isFailingOver) return false
    const old = primary
    const next = old === servers[0] ? servers[1] : servers[0]
    if (next.role !== 'standby') return false
    isFailingOver = true
    const number = ++failovers
    disconnectStandby()
    if (old.role === 'primary' && world.chance(0.3)) world.count('met: two primaries')
    else stop(old)
    const promotedMs = world.between(5, world.pick([100, 5000]))
    world.after(world.between(0, world.pick([2, promotedMs, promotedMs + 2000])), () => {
      if (failovers === number) address = next
    })
    world.after(promotedMs, () => {
      Object.assign(next, { role: 'primary', data: copyOf(durable), log: [] })
      primary = next
      isFailingOver = false
      world.note(() => `server ${next.name}: promoted`)
    })
    world.after(promotedMs + world.between(0, world.pick([100, 6000])), () => {
      stop(old)
      Object.assign(old, { role: 'standby', data: durable, log: [] })
      isStreaming = true
      world.note(() => `server ${old.name}: a standby again`)
      receive()
    })
    return true
  }

  function disconnectStandby (): void {
    isStreaming = false
    disconnectedAt = world.clock.now()
  }

  function standbyAway (): boolean {
    if (!isStreaming) return false
    disconnectStandby()
    world.after(world.between(500, 20_000), () => {
      if (isFailingOver || servers.every(({ role }) => role !== 'standby')) return
      isStreaming = true
      world.note(() => 'standby: streams again')
      receive()
    })
    return true
  }

  function terminate (): boolean {
    const { sessions, statements } = primary
    const isPossible = sessions.size > 0
    for (const { interrupted } of statements) interrupted.resolve('terminate')
    for (const session of sessions) {
      session.lose(serverError('57P01', 'terminating connection due to administrator command'))
    }
    return isPossible
  }

  function cancelWaits (): boolean {
    const waiting = servers.flatMap(server => [...server.statements]).filter(({ isWaiting }) => isWaiting)
    for (const { interrupted } of waiting) interrupted.resolve('cancel')
    return waiting.length > 0
  }

  const faults: Record<Fault, () => boolean> = { crash, failover, standbyAway, terminate, cancelWaits }

  const isComplete = () => primary.role === 'primary' && address === primary && !isFailingOver &&
    (!isReplicated || (isStreaming && servers.some(({ role }) => role === 'standby')))

  return {
    hosts,
    connect,
    durable: () => durable,
    onStatement: callback => callbacks.push(callback),
    startFault (name) {
      if (isHealed || !faults[name]()) return
      world.count(`fault: ${name}`)
      world.note(() => `fault: ${name}`)
    },
    hadStandbySince: moment => !isReplicated || isStreaming || disconnectedAt > moment,
    async heal () {
      rates = {}
      isHealed = true
      while (!isComplete()) await world.sleep(50)
    }
  }
}

function newServer (name: string, role: Server['role'], data: Data): Server {
  return { name, role, data, owners: new Map(), log: [], sessions: new Set(), statements: new Set() }
}

function copyOf ({ plants, version }: Data): Data {
  return { plants: plants && new Map(plants), version }
}

function tableOf ({ data }: Server): Map<bigint, Row> {
  if (data.plants === undefined) throw serverError('42P01', 'relation "plants" does not exist')
  return data.plants
}

function addRow ({ plants }: Data, row: Row): void {
  if (plants?.has(row.id) === true) throw new Error(`The simulation stored the plant ${row.id} twice`)
  plants?.set(row.id, row)
}
