// Two simulated PostgreSQL servers: the standby receives the commits of the primary and may take
// its place.
import { newest } from '../../../src/stores/postgres/columns.ts'
import type { FaultRates } from './network.ts'
import {
  type Commit, connectionLost, copyOf, createServer, type Data, type Database, type DatabaseOptions,
  type Server, serverError, show
} from './server.ts'
import type { World } from './world.ts'

export interface ClusterOptions extends Omit<DatabaseOptions, 'serializationRate'> {
  /** The services know both servers, or one address that leads to a server. */
  hosts: 1 | 2
  /** At the one address, a pooler sends each statement to the server that is the right one then. */
  isPooled: boolean
  hasTables: boolean
  rates: FaultRates
}

export interface Cluster extends Database, Omit<ClusterOptions, 'hasTables'> {
  servers: readonly [Server, Server]
  primary: Server
  /** Where the one address leads. */
  address: Server
  isStreaming: boolean
  /** A commit is on its way to the standby. */
  isReceiving: boolean
  /** When the standby was away last. */
  disconnectedAt: number
  isFailingOver: boolean
  failovers: number
  /** The pooler lets statements wait for the new primary. */
  poolerHolds: boolean
  isHealed: boolean
  /** Each is called once, when a statement has taken effect and before its result arrives. */
  callbacks: Array<() => void>
}

export function createCluster (world: World, { hasTables, ...options }: ClusterOptions): Cluster {
  const durable: Data = hasTables
    ? { plants: new Map(), version: newest }
    : {
        plants: undefined, version: undefined
      }
  const servers = [
    createServer('A', 'primary', copyOf(durable)), createServer('B', 'standby', durable)
  ] as const
  const cluster: Cluster = {
    ...options,
    world,
    durable,
    servers,
    primary: servers[0],
    address: servers[0],
    isStreaming: options.isReplicated,
    isReceiving: false,
    disconnectedAt: 0,
    isFailingOver: false,
    failovers: 0,
    poolerHolds: options.isPooled && world.chance(0.5),
    isHealed: false,
    callbacks: [],
    replicate: () => replicate(cluster),
    serializationRate: () => cluster.rates.serialization ?? 0
  }
  return cluster
}

/** Sends some commits of the primary to the standby, which syncs them, and then the next ones. */
function replicate (cluster: Cluster): void {
  const { world, primary } = cluster
  const canStream = () => cluster.isStreaming && primary.role === 'primary'
  if (cluster.isReceiving || !canStream() || primary.log.length === 0) return
  cluster.isReceiving = true
  world.after(world.between(0.1, 3), () => {
    cluster.isReceiving = false
    if (!canStream() || primary !== cluster.primary) return
    const count = 1 + Math.floor(world.random() * primary.log.length)
    const received = primary.log.slice(0, count)
    for (const { written } of received) written.resolve(undefined)
    flush(cluster, primary, received)
  })
}

/**
 * The standby syncs the commits that it has received; without its connection it loses them, as in a
 * power cut.
 */
function flush (cluster: Cluster, primary: Server, received: Commit[]): void {
  const { world } = cluster
  cluster.isReceiving = true
  world.after(world.between(0.1, 3), () => {
    cluster.isReceiving = false
    if (!cluster.isStreaming || primary.role !== 'primary' || primary !== cluster.primary) return
    for (const commit of received) {
      primary.log.shift()
      commit.apply(cluster.durable)
      commit.flushed.resolve(undefined)
    }
    world.note(() => `standby: has ${received.length} more commits`)
    replicate(cluster)
  })
}

/** Whether the standby could receive commits at this moment or later. */
export function hadStandbySince (
  { isReplicated, isStreaming, disconnectedAt }: Cluster, moment: number
): boolean {
  return !isReplicated || isStreaming || disconnectedAt > moment
}

/** Stops all faults; resolves when the cluster is complete. */
export async function heal (cluster: Cluster): Promise<void> {
  cluster.rates = {}
  cluster.isHealed = true
  while (!isComplete(cluster)) await cluster.world.sleep(50)
}

function isComplete ({ primary, address, isFailingOver, isReplicated, isStreaming, servers }: Cluster): boolean {
  if (primary.role !== 'primary' || address !== primary || isFailingOver) return false
  return !isReplicated || (isStreaming && servers.some(({ role }) => role === 'standby'))
}

export type Fault = keyof typeof faults

/** Each returns false if it is impossible now. */
const faults = { crash, failover, standbyAway, terminate, cancelWaits }

/** Starts a fault, unless it is impossible now. */
export function startFault (cluster: Cluster, name: Fault): void {
  if (cluster.isHealed || !faults[name](cluster)) return
  cluster.world.count(`fault: ${name}`)
  cluster.world.note(() => `fault: ${name}`)
}

function stop ({ isPooled }: Cluster, server: Server): void {
  server.role = 'down'
  for (const { interrupted } of server.statements) interrupted.resolve('crash')
  // A pooler keeps the connections of its clients.
  if (!isPooled) for (const session of server.sessions) session.lose(connectionLost())
  server.statements.clear()
  server.owners = new Map()
}

/** The primary stops and starts again. Then all its commits are visible. */
function crash (cluster: Cluster): boolean {
  const { world, primary: server } = cluster
  if (cluster.isFailingOver || server.role !== 'primary') return false
  stop(cluster, server)
  const isStopped = () => !cluster.isFailingOver && server === cluster.primary && server.role !== 'primary'
  world.after(world.between(50, 3000), () => { if (isStopped()) server.role = 'starting' })
  world.after(world.between(3000, 6000), () => {
    if (!isStopped()) return
    for (const commit of server.log) show(server, commit)
    server.role = 'primary'
    if (server.log.length > 0) world.count('met: visible after a crash, but not on the standby')
    world.note(
      () => `server ${server.name}: restarted, the standby lacks ${server.log.length} visible commits`
    )
    replicate(cluster)
  })
  return true
}

/**
 * The standby becomes the primary, with what it has. The old primary may go on for some time,
 * alone.
 */
function failover (cluster: Cluster): boolean {
  const { world, isReplicated, servers, primary: old } = cluster
  const next = old === servers[0] ? servers[1] : servers[0]
  if (!isReplicated || cluster.isFailingOver || next.role !== 'standby') return false
  cluster.isFailingOver = true
  const number = ++cluster.failovers
  disconnectStandby(cluster)
  if (old.role === 'primary' && world.chance(0.3)) world.count('met: two primaries')
  else stop(cluster, old)
  const promotedMs = world.between(5, world.pick([100, 5000]))
  world.after(world.between(0, world.pick([2, promotedMs, promotedMs + 2000])), () => {
    if (number === cluster.failovers) cluster.address = next
  })
  world.after(promotedMs, () => {
    Object.assign(next, { role: 'primary', data: copyOf(cluster.durable), log: [] })
    Object.assign(cluster, { primary: next, isFailingOver: false })
    world.note(() => `server ${next.name}: promoted`)
  })
  world.after(promotedMs + world.between(0, world.pick([100, 6000])), () => {
    stop(cluster, old)
    Object.assign(old, { role: 'standby', data: cluster.durable, log: [] })
    cluster.isStreaming = true
    world.note(() => `server ${old.name}: a standby again`)
    replicate(cluster)
  })
  return true
}

function standbyAway (cluster: Cluster): boolean {
  const { world, servers } = cluster
  if (!cluster.isStreaming) return false
  disconnectStandby(cluster)
  world.after(world.between(500, 20_000), () => {
    if (cluster.isFailingOver || servers.every(({ role }) => role !== 'standby')) return
    cluster.isStreaming = true
    world.note(() => 'standby: streams again')
    replicate(cluster)
  })
  return true
}

function disconnectStandby (cluster: Cluster): void {
  cluster.isStreaming = false
  cluster.disconnectedAt = cluster.world.clock.now()
}

/**
 * An administrator ends all connections to the primary. A commit that waits for the standby takes
 * effect.
 */
function terminate ({ primary: { sessions, statements } }: Cluster): boolean {
  const isPossible = sessions.size > 0
  for (const { interrupted } of statements) interrupted.resolve('terminate')
  for (const session of sessions) {
    session.lose(serverError('57P01', 'terminating connection due to administrator command'))
  }
  return isPossible
}

/** An administrator cancels all waits for the standby. The commits take effect. */
function cancelWaits ({ servers }: Cluster): boolean {
  const waiting = servers.flatMap(
    server => [...server.statements]
  ).filter(({ isWaiting }) => isWaiting)
  for (const { interrupted } of waiting) interrupted.resolve('cancel')
  return waiting.length > 0
}
