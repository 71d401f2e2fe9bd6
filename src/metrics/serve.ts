// /metrics: on the port of the service it needs an accepted token, on a port of its own (METRICS_PORT) it does not.
import fastify from 'fastify'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import * as contract from '../../generated/operations.ts'
import { CannotListen } from '../threads/port-claim.ts'
import { docsPath, routedOperations, serverPath, toRoute } from '../contract/index.ts'
import { healthPaths } from '../health.ts'
import type { Shared } from '../threads/shared.ts'
import { exposeMetrics, metricsPath } from './exposition.ts'

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

/** Serves /metrics alone. */
export async function listenForMetrics (
  { host, metricsPort: port, baseUrl }: { host: string, metricsPort: number, baseUrl: string },
  shared: Shared
): Promise<MetricsServer> {
  const app = fastify({ forceCloseConnections: true })
  serveMetrics(app, shared, routesOf(baseUrl), [])
  try {
    return { address: await app.listen({ host, port }) + metricsPath, close: app.close.bind(app) }
  } catch (error) {
    throw new CannotListen({ host, port }, error as Error, 'METRICS_PORT')
  }
}
