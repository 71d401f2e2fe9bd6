// The route of /metrics. On the port of the service its hooks ask for an accepted token.
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { exposeMetrics, metricsPath } from '../telemetry/metrics-text.ts'
import type { SharedMemory } from './shared-memory.ts'
import { shareResult } from './shared-result.ts'

/** Making the text takes milliseconds, and no scraper asks for it more than once a second. */
const freshMs = 1000

/** @param paths those of createRouteLabels() */
export function serveMetrics (
  app: FastifyInstance,
  shared: SharedMemory,
  paths: readonly string[],
  onRequest: onRequestHookHandler[]
): void {
  const makeText = shareResult(freshMs, async () => {
    const connections = shared.connections.reduce((sum, open) => sum + open, 0)
    const { contentType, text } = await exposeMetrics(shared.metrics, paths, connections)
    return { contentType, bytes: Buffer.from(text) }
  })
  app.get(metricsPath, { onRequest }, async (_request, reply) => {
    const { contentType, bytes } = await makeText()
    return reply.type(contentType).send(bytes)
  })
}
