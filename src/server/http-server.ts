// Creates the HTTP server that Fastify uses, with its limits.
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { admitRequests } from './admission.ts'
import { CompactMessage } from './compact-message.ts'
import { limitConnections } from './connection-limit.ts'
import type { ConnectionLimit } from './connection-limit.ts'
import { answerServerErrors, connectionsOf, refuseOverload } from '../contract/index.ts'
import type { ErrorReporter, ServedSocket } from '../contract/index.ts'
import { oncePerMinute } from '../telemetry/log.ts'
import { memoryLimit } from './memory-limit.ts'
import { serveInOrder } from './pipelining.ts'
import { measuredResponse } from '../telemetry/measured-response.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import type { Shared } from '../service/shared-memory.ts'

export interface ServerOptions {
  reporter: ErrorReporter
  /** Time limits for the headers and for the whole request. */
  requestTimeoutMs: { header: number, whole: number }
  /** Time limit of a connection whose client reads nothing of its response. */
  stalledTimeoutMs: number
  /** Time for which a connection may be idle between two requests. */
  keepAliveTimeoutMs: number
  maxConnections: ConnectionLimit
  /** Paths of health checks, as a request has them. */
  urgentPaths: readonly string[]
  thread: number
  shared: Shared
  recorder: Recorder
  warn: (sentence: string) => void
}

/** Each takes about 100 bytes, whatever its length. More get 431. */
const maxHeaderFields = 100

/** @param handle Fastify's listener */
export function createHttpServer (
  handle: RequestListener,
  {
    reporter, requestTimeoutMs, stalledTimeoutMs, keepAliveTimeoutMs, maxConnections, urgentPaths, thread, shared,
    recorder, warn
  }: ServerOptions
): Server {
  const reportRefused = oncePerMinute(count => {
    warn(`Requests refused because the service is overloaded: ${count}.`)
  })
  // Each takes about 4 KB.
  const maxPipelined = Math.min(1000, memoryLimit(shared.threads) / 2 ** 16)
  const refuse = refuseOverload(reporter, () => {
    recorder.count('overload')
    reportRefused()
  })
  const server = createServer({
    requestTimeout: requestTimeoutMs.whole,
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: requestTimeoutMs.header,
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMs.header),
    requireHostHeader: false,
    IncomingMessage: CompactMessage,
    ServerResponse: measuredResponse<CompactMessage>(recorder)
  })
  server.maxHeadersCount = maxHeaderFields
  const open = connectionsOf(server)
  const admission = { refuse, urgentPaths: new Set(urgentPaths) }
  server.on('request', serveInOrder(maxPipelined, admitRequests(handle, admission)))
  const sweep = setInterval(() => endStalled(open, stalledTimeoutMs), stalledTimeoutMs / 4).unref()
  server.once('close', () => clearInterval(sweep))
  answerServerErrors(server, reporter)
  limitConnections(server, maxConnections, { connections: shared.connections, thread }, warn, () => {
    recorder.count('connections')
  })
  return server
}

/**
 * Sets the time limit of connections that have unsent bytes; Node takes it back after the response. A stream may pause
 * once its bytes are sent. With Node's own server.setTimeout() each request would update several timers.
 */
function endStalled (open: ReadonlySet<ServedSocket>, timeoutMs: number): void {
  for (const socket of open) {
    if (socket.writableLength > 0) {
      if (socket.timeout !== timeoutMs) socket.setTimeout(timeoutMs)
    } else if (socket._httpMessage?.headersSent === true && socket.timeout === timeoutMs) {
      socket.setTimeout(0)
    }
  }
}
