// Creates Node's HTTP server with its limits. It knows neither a framework nor a contract.
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { admitRequests } from './admission.ts'
import { CompactMessage } from './compact-message.ts'
import type { ErrorReporter } from './error-reporter.ts'
import { connectionLimit } from './connection-limit.ts'
import { drainAtClose, type DrainTimes } from './drain.ts'
import { memoryLimit } from './memory-limit.ts'
import { type ConnectionCounts, limitConnections, limitStalling } from './open-connections.ts'
import { createServer, ServerResponse } from './node-http.ts'
import { serveInOrder } from './pipelining.ts'
import { answerOverload, answerServerErrors, refuseLongAddresses } from './socket-errors.ts'
import { readBodiesWhenWanted } from './unread-bodies.ts'

/** Limits of a server; times are in milliseconds. */
export interface ServerOptions extends ConnectionCounts {
  reporter: ErrorReporter
  /** Time limits for the headers, 10,000, and for the whole request, 300,000; then 408. */
  requestTimeoutMs: { header: number, whole: number }
  /** Time limit of a connection whose client reads nothing of its response. By default 60,000. */
  stalledTimeoutMs: number
  /** Time for which a connection may be idle between two requests. By default 72,000. */
  keepAliveTimeoutMs: number
  /** Characters of the path and the query of a request; more get 414. By default 8,000. */
  maxAddressLength: number
  /** Connections that all threads together may have. By default connectionLimit() says it. */
  maxConnections: number
  /** Threads that share the memory. By default 1. */
  threads: number
  /** Paths of health checks, as a request has them. */
  urgentPaths: readonly string[]
  /** The class of the responses. */
  ServerResponse: typeof ServerResponse<CompactMessage>
  /** How long close() waits for connections. By default DrainTimes says it. */
  drain: Partial<DrainTimes>
  /** Called for each connection beyond the limit. */
  onConnectionDropped: () => void
}

/** Each takes about 100 bytes, short or long. More get 431. */
const maxHeaderFields = 100
/** Pipelined requests take at most a sixteenth of the memory, and each about 4 KiB. */
const memoryOfPipelined = 16 * 4096

/** For one thread. An upload may take minutes. */
const defaults: Omit<ServerOptions, 'reporter' | 'connections' | 'maxConnections'> = {
  requestTimeoutMs: { header: 10_000, whole: 300_000 },
  stalledTimeoutMs: 60_000,
  keepAliveTimeoutMs: 72_000,
  // RFC 9110, section 4.1, recommends at least this length.
  maxAddressLength: 8000,
  thread: 0,
  threads: 1,
  urgentPaths: [],
  drain: {},
  ServerResponse,
  onConnectionDropped: String
}

/** @param given what differs from the defaults */
export function createHttpServer (
  handle: RequestListener,
  given: Partial<ServerOptions> & Pick<ServerOptions, 'reporter'>
): Server {
  const options = { ...defaults, connections: new Int32Array(1), ...given }
  const { reporter, requestTimeoutMs: { header, whole }, ServerResponse } = options
  const server = createServer({
    requestTimeout: whole,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    headersTimeout: header,
    connectionsCheckingInterval: Math.min(1000, header),
    requireHostHeader: false,
    IncomingMessage: CompactMessage,
    ServerResponse
  })
  server.maxHeadersCount = maxHeaderFields
  const maxPipelined = Math.min(1000, memoryLimit(options.threads) / memoryOfPipelined)
  const short = refuseLongAddresses(reporter, options.maxAddressLength, handle)
  const admit = admitRequests(short, {
    answerOverload: answerOverload(reporter),
    urgentPaths: new Set(options.urgentPaths)
  })
  server.on('request', readBodiesWhenWanted(serveInOrder(maxPipelined, admit)))
  limitStalling(server, {
    response: options.stalledTimeoutMs,
    // A request that begins in the last moment has all its time.
    idle: options.keepAliveTimeoutMs + whole
  })
  // Node keeps an address that was read, and the log needs it after the connection has closed.
  server.on('connection', (socket: Socket) => String(socket.remoteAddress))
  answerServerErrors(server, reporter)
  drainAtClose(server, options.drain)
  const forBodies = { bodyLimit: 2 ** 20 }
  const { maxConnections = connectionLimit(forBodies, 1, String).limit } = options
  limitConnections(server, maxConnections, options, options.onConnectionDropped)
  return server
}
