// The route of /metrics. On the port of the service its hooks ask for an accepted token.
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { exposeMetrics, metricsPath } from '../telemetry/metrics-text.ts'
import type { SharedMemory } from './shared-memory.ts'

/** @param paths those of createRouteLabels() */
export function serveMetrics (
  app: FastifyInstance,
  shared: SharedMemory,
  paths: readonly string[],
  onRequest: onRequestHookHandler[]
): void {
  app.get(metricsPath, { onRequest }, async (_request, reply) => {
    const connections = shared.connections.reduce((sum, open) => sum + open, 0)
    const { contentType, text } = await exposeMetrics(shared.metrics, paths, connections)
    return reply.type(contentType).send(text)
  })
}
