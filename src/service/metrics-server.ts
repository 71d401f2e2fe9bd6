// The server of METRICS_PORT: it serves /metrics alone, without a token.
import fastify from 'fastify'
import { answerErrors, errorOptions } from 'fastify-openapi-contract'
import {
  answerServerErrors, CannotListen, connectionsOf, createServer, readChunksWhenWanted, serveInOrder
} from 'fastify-openapi-contract/server'
import type { RequestListener, Server } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { metricsPath } from '../telemetry/metrics-text.ts'
import { createErrorLog } from './error-log.ts'
import { serveMetrics } from './metrics-route.ts'
import { createRouteLabels } from './route-labels.ts'
import type { SharedMemory } from './shared-memory.ts'

export interface MetricsServer { address: string, close: () => Promise<void> }

/** Prometheus needs one connection. Each takes a file descriptor from the service. */
const maxConnections = 16
/** Milliseconds; the first two for the header of a request, and for all of it. */
const timeouts = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 72_000
}

/** @throws CannotListen */
export async function listenForMetrics (
  { host, baseUrl, failedAuthLimit }: Pick<Config, 'host' | 'baseUrl' | 'failedAuthLimit'>,
  port: number,
  shared: SharedMemory,
  log: Logger
): Promise<MetricsServer> {
  const reporter = createErrorLog(log, failedAuthLimit, shared)
  const listenTo = (handle: RequestListener) => {
    // Beyond one request on each connection, only one connection may pipeline many.
    return readChunksWhenWanted(serveInOrder(maxConnections, handle))
  }
  const app = fastify({
    ...errorOptions(reporter),
    forceCloseConnections: true,
    serverFactory: handle => createServer(timeouts, listenTo(handle))
  })
  app.addHook('onClose', async () => reporter.close())
  replaceOldest(app.server, maxConnections)
  answerErrors(app, reporter)
  answerServerErrors(app.server, reporter)
  serveMetrics(app, shared, createRouteLabels(baseUrl).paths, [])
  try {
    const origin = await app.listen({ host, port })
    return { address: origin + metricsPath, close: () => app.close() }
  } catch (error) {
    throw new CannotListen(host, port, error as Error, 'METRICS_PORT')
  }
}

/**
 * Closes the oldest connection when there are more: clients that send half a request, or do not
 * read, cannot keep Prometheus away.
 */
function replaceOldest (server: Server, max: number): void {
  const open = connectionsOf(server)
  server.on('connection', () => {
    const [oldest] = open
    if (open.size > max) oldest?.destroy()
  })
}
