// Creates the HTTP server that Fastify uses, with its limits.
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { admitRequests } from './admission.ts'
import { limitConnections } from './connections.ts'
import type { ConnectionLimit } from './connections.ts'
import { answerServerErrors, refuseOverload } from './contract/index.ts'
import type { ErrorReporter } from './contract/index.ts'
import { healthPaths } from './health.ts'
import { oncePerMinute } from './log.ts'

export interface ServerOptions {
  reporter: ErrorReporter
  /** Time limits for the headers and for the whole request. */
  requestTimeoutMs: { header: number, whole: number }
  /** Time limit of a connection on which nothing moves while a request or its response is under way. */
  stalledTimeoutMs: number
  /** Time for which a connection may be idle between two requests. */
  keepAliveTimeoutMs: number
  maxConnections: ConnectionLimit
  warn: (sentence: string) => void
}

const urgentPaths = new Set(Object.values(healthPaths))

/** @param handle Fastify's listener */
export function createHttpServer (
  handle: RequestListener,
  { reporter, requestTimeoutMs, stalledTimeoutMs, keepAliveTimeoutMs, maxConnections, warn }: ServerOptions
): Server {
  const reportRefused = oncePerMinute(count => {
    warn(`Requests refused because the service is overloaded: ${count}.`)
  })
  const refuse = refuseOverload(reporter, reportRefused)
  const server = createServer({
    requestTimeout: requestTimeoutMs.whole,
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: requestTimeoutMs.header,
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMs.header),
    requireHostHeader: false
  }, admitRequests(handle, { refuse, urgentPaths }))
  server.setTimeout(stalledTimeoutMs)
  answerServerErrors(server, reporter)
  limitConnections(server, maxConnections, warn)
  return server
}
