// A simulated pool of connections to the simulated PostgreSQL. It follows the rules of pg's pool.
import type { Connection, Pool, StatementClient } from '../../../src/stores/postgres/statements.ts'
import type { Cluster } from './cluster.ts'
import { connect, type Session } from './network.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

const maxClients = 3
const connectionTimeoutMs = 2000

export function createPool (
  world: World, process: Process, cluster: Cluster, currentHost: () => number
): Pool {
  const { clock, deliver } = process
  const idle: Session[] = []
  const waiting: Array<PromiseWithResolvers<Session>> = []
  const ended = Promise.withResolvers<void>()
  let size = 0
  let isEnding = false

  async function openSession (): Promise<Session> {
    size++
    const timeout = Promise.withResolvers<never>()
    const error = new Error('Connection terminated due to connection timeout')
    const cancel = clock.setTimer(() => timeout.reject(error), connectionTimeoutMs)
    try {
      return await Promise.race([deliver(connect(cluster, currentHost())), timeout.promise])
    } catch (error) {
      remove()
      throw error
    } finally {
      cancel()
    }
  }

  function remove (): void {
    size--
    if (isEnding && size === 0) ended.resolve()
    else pulse()
  }

  /** Gives connections to those who wait for one. */
  function pulse (): void {
    const session = idle.pop()
    if (session === undefined && size >= maxClients) return
    const next = waiting.shift()
    if (next === undefined) {
      if (session !== undefined) idle.push(session)
    } else if (session !== undefined) next.resolve(session)
    else openSession().then(next.resolve, next.reject)
  }

  async function takeSession (): Promise<Session> {
    for (const session of idle.splice(0)) {
      if (session.isOpen) idle.push(session)
      else size--
    }
    const session = idle.pop()
    if (session !== undefined) return session
    if (size < maxClients) return openSession()
    const next = Promise.withResolvers<Session>()
    waiting.push(next)
    const cancel = clock.setTimer(() => {
      if (!waiting.includes(next)) return
      waiting.splice(waiting.indexOf(next), 1)
      next.reject(new Error('timeout exceeded when trying to connect'))
    }, connectionTimeoutMs)
    return next.promise.finally(cancel)
  }

  function release (session: Session, close: boolean): void {
    session.onWarning = () => {}
    if (close || isEnding || !session.isOpen) {
      session.isOpen = false
      remove()
    } else {
      idle.push(session)
      pulse()
    }
  }

  return {
    async connect () {
      if (isEnding) throw new Error('Cannot use a pool after calling end on the pool')
      const session = await takeSession()
      return toConnection(world, process, session, close => release(session, close))
    },
    // Only startup with several hosts probes them.
    probe: async () => undefined,
    async end () {
      if (isEnding) throw new Error('Called end on pool more than once')
      isEnding = true
      size -= idle.splice(0).length
      if (size === 0) ended.resolve()
      await ended.promise
    }
  }
}

function toConnection (
  world: World,
  { deliver }: Process,
  session: Session,
  release: (close: boolean) => void
): Connection {
  const client: StatementClient = {
    // The caller states which rows its statement has.
    query: async <Row>(text: string, values: unknown[]) => {
      return { rows: await deliver(session.query(text, values)) as Row[] }
    },
    on: (_event, listener) => { session.onWarning = listener },
    off: () => { session.onWarning = () => {} },
    release: (close = false) => release(close)
  }
  return {
    client,
    async stop () {
      await world.sleep(world.between(0.5, 500))
      // The request may get lost.
      if (world.chance(0.9)) session.cancel()
    }
  }
}
