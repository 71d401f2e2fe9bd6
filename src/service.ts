// The service in one thread: the tokens, the app and its HTTP server, on an engine that may be in another thread.
import { lookup } from 'node:dns/promises'
import { dirname, resolve } from 'node:path'
import type { ListenOptions } from 'node:net'
import type { Logger } from 'pino'
import { buildApp } from './app.ts'
import { openVerifier } from './auth/verifier.ts'
import type { VerifierLog } from './auth/verifier.ts'
import { cannotListen } from './config.ts'
import type { Config } from './config.ts'
import type { ConnectionLimit } from './connections.ts'
import { memoryLimit } from './memory-limit.ts'
import type { Shared } from './shared.ts'
import { groupCommit } from './stores/group-commit.ts'
import type { Engine } from './stores/group-commit.ts'
import { sqlitePath } from './stores/open.ts'

// Longer than a request takes from a client to the service. A client that pauses longer may see its connection end.
const lingerMs = 1000

export interface ServiceOptions {
  config: Config
  engine: Engine
  log: Logger
  maxConnections: ConnectionLimit
  /** The index of this thread, and what all threads share. */
  thread: number
  shared: Shared
}

/** Fastify passes all options to Node, but its type has fewer. */
type Listen = (options: ListenOptions) => Promise<string>

export interface Service {
  /** The file with the token that the service has created for itself, if it uses one. */
  ownTokenFile: string | undefined
  /** Resolves to the address. Several threads may listen at a port. */
  listen: (port: number) => Promise<string>
  /** Finishes the requests that are under way, and closes the engine. */
  close: () => Promise<void>
}

/** @throws Error with the reason */
export async function openService ({
  config, engine, log, maxConnections, thread, shared
}: ServiceOptions): Promise<Service> {
  const { threads } = shared
  const store = groupCommit(engine, {
    maxQueue: Math.ceil(config.maxQueue / threads),
    // The rest is for reading requests and for the batch that is being stored.
    maxQueueBytes: memoryLimit(threads) / 8
  })
  const ownTokenFile = resolve(dataDirectory(config.databaseUrl), 'access-token')
  const tokens = await openVerifier({ ...config, ownTokenFile }, thread === 0 ? log : withoutNews(log))
  const drainMs = { delayMs: config.shutdownDelayMs, lingerMs }
  const app = await buildApp({
    ...config, maxConnections, drainMs, store, verifyToken: tokens.verify, log, thread, shared
  })
  return {
    ownTokenFile: tokens.isOwn ? ownTokenFile : undefined,
    async listen (port) {
      try {
        // For the name localhost Fastify would add servers, without the limits and error answers.
        const { address: host } = await lookup(config.host, { order: 'ipv4first' })
        return await (app.listen as Listen)({ host, port, reusePort: threads > 1 })
      } catch (error) {
        throw cannotListen(config, error as Error)
      }
    },
    async close () {
      tokens.close()
      await app.close()
      await store.close()
    }
  }
}

/** The folder for the service's own files: that of its database file. */
function dataDirectory (databaseUrl: string): string {
  const path = sqlitePath(databaseUrl)
  return path === undefined ? 'data' : dirname(path)
}

/** A log for the other threads than the first, which follow the same tokens. */
function withoutNews (log: Logger): VerifierLog {
  const leaveOut = () => {}
  return { info: leaveOut, warn: leaveOut, error: leaveOut, debug: log.debug.bind(log) }
}
