// /metrics: on the port of the service it needs an accepted token, on a port of its own (METRICS_PORT) it does not.
import fastify from 'fastify'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import * as contract from '../../generated/operations.ts'
import type { Logger } from 'pino'
import {
  answerErrors, answerServerErrors, docsPath, errorOptions, routedOperations, serverPath, toRoute
} from '../contract/index.ts'
import type { ErrorReporter } from '../contract/index.ts'
import { healthPaths } from './health.ts'
import { logError } from '../telemetry/log.ts'
import { errorBody } from '../plants/error-body.ts'
import { CannotListen } from './threads/port-claim.ts'
import type { Shared } from './shared-memory.ts'
import { exposeMetrics, metricsPath } from '../telemetry/exposition.ts'

/** The paths that are labels of metrics, and the place of a Fastify route among them, from 1; 0 for none. */
export interface Routes { paths: string[], indexOf: (url: string) => number }

export function routesOf (baseUrl: string): Routes {
  const variables = { base_url: baseUrl }
  const templates = new Set(routedOperations(contract, variables).map(({ template }) => template))
  const ownPaths = [...Object.values(healthPaths), docsPath, metricsPath]
  const paths = [...templates, ...ownPaths]
  const routes = paths.map(toRoute)
  const prefix = toRoute(serverPath(contract.server, variables))
  /** Own paths are also below that of BASE_URL, and the page of the contract has files below its own. */
  const ownPath = (url: string) => ownPaths.find(path => {
    return [path, prefix + path].some(own => url === own || (path === docsPath && url.startsWith(`${own}/`)))
  })
  return { paths, indexOf: url => 1 + routes.indexOf(routes.includes(url) ? url : ownPath(url) ?? url) }
}

export function serveMetrics (
  app: FastifyInstance,
  shared: Shared,
  routes: Routes,
  onRequest: onRequestHookHandler[]
): void {
  app.get(metricsPath, { onRequest }, async (_request, reply) => {
    const connections = shared.connections.reduce((sum, open) => sum + open, 0)
    const { contentType, text } = await exposeMetrics(shared.metrics, routes.paths, connections)
    return reply.type(contentType).send(text)
  })
}

export interface MetricsServer { address: string, close: () => Promise<void> }

/** Prometheus needs one connection. Each takes a file descriptor from the service. */
const maxConnections = 16
/** Milliseconds for the header of a request, and for all of it. */
const timeouts = { headersTimeout: 5000, requestTimeout: 10_000, connectionsCheckingInterval: 1000 }

/** Serves /metrics alone. */
export async function listenForMetrics (
  { host, metricsPort: port, baseUrl }: { host: string, metricsPort: number, baseUrl: string },
  shared: Shared,
  log: Logger
): Promise<MetricsServer> {
  const reporter: ErrorReporter = { errorBody, log: (error, request) => logError(log, error, request) }
  const app = fastify({ ...errorOptions(reporter), forceCloseConnections: true, http: timeouts })
  app.server.maxConnections = maxConnections
  answerErrors(app, reporter)
  answerServerErrors(app.server, reporter)
  serveMetrics(app, shared, routesOf(baseUrl), [])
  try {
    return { address: await app.listen({ host, port }) + metricsPath, close: app.close.bind(app) }
  } catch (error) {
    throw new CannotListen({ host, port }, error as Error, 'METRICS_PORT')
  }
}
