// The server of METRICS_PORT: it serves /metrics alone, without a token.
import fastify from 'fastify'
import { type Contract, serveContract, serverOptions } from 'fastify-openapi-contract'
import { connectionsOf } from 'fastify-openapi-contract/server'
import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { metricsPath } from '../telemetry/metrics-text.ts'
import { createErrorLog } from './error-log.ts'
import { listenAt } from './listen.ts'
import { serveMetrics } from './metrics-route.ts'
import { createRouteLabels } from './route-labels.ts'
import type { SharedMemory } from './shared-memory.ts'

export interface MetricsServer { address: string, close: () => Promise<void> }

/** Prometheus needs one connection. Each takes a file descriptor from the service. */
const maxConnections = 16
/** Milliseconds; the first two for the header of a request, and for all of it. */
const limits = {
  requestTimeoutMs: { header: 5000, whole: 10_000 },
  stalledTimeoutMs: 20_000,
  maxAddressLength: 2048,
  maxConnections: Infinity
}
/** Milliseconds before a request for anything else is refused: its client asks again at once. */
const refuseAfterMs = 1000

/** A contract without operations: it refuses all that is malformed or has no route, unread. */
const contract: Contract & { document: { info: { title: string } } } = {
  document: { info: { title: 'metrics' } },
  server: { url: '/', variables: {} },
  operations: {},
  schemas: {},
  securitySchemes: {},
  skipped: []
}

/** @throws CannotListen */
export async function listenForMetrics (
  { host, baseUrl, failedAuthLimit }: Pick<Config, 'host' | 'baseUrl' | 'failedAuthLimit'>,
  port: number,
  shared: SharedMemory,
  log: Logger
): Promise<MetricsServer> {
  const reporter = createErrorLog(log, failedAuthLimit, shared)
  // A scrape is no reason to wait at the end.
  const drain = { requestTimeoutMs: 0, responseTimeoutMs: 0 }
  const app = fastify(serverOptions({ ...limits, reporter, drain }))
  replaceOldest(app.server)
  app.addHook('onRequest', ({ is404 }, _reply, done) => {
    if (is404) setTimeout(done, refuseAfterMs)
    else done()
  })
  app.addHook('onClose', async () => reporter.close())
  await app.register(serveContract({
    ...reporter,
    contract,
    handlers: {},
    verifiers: {},
    docs: false,
    routes: own => serveMetrics(own, shared, createRouteLabels(baseUrl).paths, [])
  }))
  const origin = await listenAt(app, { host, port }, 'METRICS_PORT')
  return { address: origin + metricsPath, close: () => app.close() }
}

/**
 * Closes the oldest connection when there are more: clients that send half a request, or do not
 * read, cannot keep Prometheus away.
 */
function replaceOldest (server: Server): void {
  const open = connectionsOf(server)
  server.on('connection', () => {
    const [oldest] = open
    if (open.size > maxConnections) oldest?.destroy()
  })
}
