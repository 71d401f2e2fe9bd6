// The connections to the simulated PostgreSQL: statements and results take time, get lost or never
// arrive.
import type { Cluster } from './cluster.ts'
import {
  connectionLost, execute, type Interruption, type Rows, type Server, serverError, type Statement,
  type Warning
} from './server.ts'

/** How probable a fault is for one statement or connection. */
export type FaultRates = Partial<Record<StatementFault | 'serialization' | 'noConnection', number>>
type StatementFault = 'lostBefore' | 'lostAfter' | 'slow' | 'hung'

/** A connection as a client has it. */
export interface Session {
  isOpen: boolean
  query: (text: string, values: unknown[]) => Promise<Rows>
  onWarning: (warning: Warning) => void
  /** Ends the connection with an error. */
  lose: (error: Error) => void
  /** Asks the server to stop the statement that runs. */
  cancel: () => void
}

export async function connect (cluster: Cluster, host: number): Promise<Session> {
  const { world, hosts, isPooled, rates } = cluster
  const server = hosts === 1 ? cluster.address : cluster.servers[host] as Server
  if (world.chance(rates.noConnection ?? 0)) {
    world.count('fault: noConnection')
    await world.sleep(world.pick([1, 2000, 10_000]))
    throw connectionLost()
  }
  await world.sleep(world.between(0.5, 4))
  if (isPooled) return openSession(cluster, server)
  if (server.role === 'down') {
    throw Object.assign(
      new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }
    )
  }
  if (server.role === 'starting') throw serverError('57P03', 'the database system is starting up')
  // The pool asks a server whether it is read-only.
  if (hosts === 2 && server.role === 'standby') throw new Error('it is read-only')
  return openSession(cluster, server)
}

function openSession (cluster: Cluster, server: Server): Session {
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => {})
  let current: Statement | undefined

  async function send (text: string, values: unknown[]): Promise<Rows> {
    const { world } = cluster
    const fault = drawFault(cluster)
    await world.sleep(world.between(0.1, 1) + (fault === 'slow' ? world.between(500, 7000) : 0))
    if (fault === 'lostBefore') session.lose(connectionLost())
    if (fault === 'hung' && world.chance(0.3)) return await new Promise(() => {})
    if (fault === 'lostBefore' || !server.sessions.has(session)) return await lost.promise
    const target = cluster.isPooled ? await chooseServer(cluster) : server
    current = {
      text,
      values,
      interrupted: Promise.withResolvers<Interruption>(),
      isWaiting: false,
      warn: warning => world.after(world.between(0.1, 1), () => session.onWarning(warning))
    }
    const rows = await execute(cluster, target, current).finally(() => { current = undefined })
    cluster.callbacks.shift()?.()
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

/**
 * A pooler keeps the connections of its clients, and may let statements wait for the new primary.
 */
async function chooseServer (cluster: Cluster): Promise<Server> {
  const { world } = cluster
  while (cluster.poolerHolds && cluster.isFailingOver) await world.sleep(world.between(1, 50))
  const { address } = cluster
  if (address.role === 'down' || address.role === 'starting') {
    throw serverError(
      '08006', 'server login failed'
    )
  }
  return address
}

function drawFault ({ world, rates }: Cluster): StatementFault | undefined {
  const names = ['lostBefore', 'lostAfter', 'slow', 'hung'] as const
  const fault = names.find(name => world.chance(rates[name] ?? 0))
  if (fault !== undefined) world.count(`fault: ${fault}`)
  return fault
}
