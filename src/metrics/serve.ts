// /metrics: on the port of the service it needs an accepted token, on a port of its own (METRICS_PORT) it does not.
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as contract from '../../generated/operations.ts'
import { CannotListen } from '../threads/port-claim.ts'
import { docsPath, routedOperations, serverPath, toRoute } from '../contract/index.ts'
import { healthPaths } from '../health.ts'
import type { Shared } from '../threads/shared.ts'
import { exposeMetrics, metricsPath } from './exposition.ts'
import type { Exposition } from './exposition.ts'

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
    const { contentType, text } = await expose(shared, routes)
    return reply.type(contentType).send(text)
  })
}

function expose ({ metrics, connections }: Shared, { paths }: Routes): Promise<Exposition> {
  return exposeMetrics(metrics, paths, connections.reduce((sum, open) => sum + open, 0))
}

export interface MetricsServer { address: string, close: () => void }

/** Serves /metrics alone. */
export async function listenForMetrics (
  { host, metricsPort: port, baseUrl }: { host: string, metricsPort: number, baseUrl: string },
  shared: Shared
): Promise<MetricsServer> {
  const routes = routesOf(baseUrl)
  const server = createServer(async ({ url, method }, response) => {
    const isKnown = url === metricsPath && ['GET', 'HEAD'].includes(method as string)
    if (!isKnown) {
      response.writeHead(404).end(`This port has only ${metricsPath}.\n`)
      return
    }
    const { contentType, text } = await expose(shared, routes)
    response.writeHead(200, { 'Content-Type': contentType }).end(text)
  })
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    throw new CannotListen({ host, port }, error as Error, 'METRICS_PORT')
  }
  const { address, family, port: actual } = server.address() as AddressInfo
  return {
    address: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}${metricsPath}`,
    close () {
      server.close()
      server.closeAllConnections()
    }
  }
}
