// Builds the Fastify app from the contract, the verifier and the handlers. It does not listen.
import fastify, { type FastifyInstance } from 'fastify'
import {
  HttpError, serveContract, serverOptions, serverPath, type TokenVerifier
} from 'fastify-openapi-contract'
import type { ConnectionLimit } from 'fastify-openapi-contract/server'
import type { RequestListener } from 'node:http'
import type { Logger } from 'pino'
import { type components, contract } from '../../generated/index.ts'
import type { Config } from '../config/config.ts'
import { tidyForwardedFor, warnOfProxy } from '../limits/client-network.ts'
import { limitFailures } from '../limits/failed-auth.ts'
import { limitRate } from '../limits/rate-limit.ts'
import { createPlant } from '../plants/create-plant.ts'
import { type PlantStore, StoreUnavailable } from '../plants/plant-store.ts'
import { labelRoutes, measuredResponse } from '../telemetry/measured-response.ts'
import { oncePerMinute } from '../telemetry/once-per-minute.ts'
import type { Recorder } from '../telemetry/metrics-recorder.ts'
import { logResponses } from '../telemetry/request-log.ts'
import { allowOrigins } from './cors.ts'
import { createErrorLog } from './error-log.ts'
import { healthPathsBelow, reportReadiness, serveHealth } from './health.ts'
import { serveMetrics } from './metrics-route.ts'
import { createRouteLabels } from './route-labels.ts'
import type { SharedMemory } from './shared-memory.ts'

type Settings = 'answers' | 'baseUrl' | 'bodyLimit' | 'corsOrigin' | 'failedAuthLimit' |
  'keepAliveTimeoutMs' | 'metricsPort' | 'onTerminal' | 'rateLimit' |
  'shutdownDelayMs' | 'trustProxy'

export interface AppOptions extends Pick<Config, Settings> {
  store: PlantStore
  verifyToken: TokenVerifier
  log: Logger
  maxConnections: ConnectionLimit
  /** The index of this thread, and what all threads share. */
  thread: number
  shared: SharedMemory
  /** Of this thread. */
  recorder: Recorder
  /** Whether app.close() leaves the service to other threads: /readyz stays 200, without delay. */
  isLeaving: () => boolean
  /** Time limits for the header and for the whole request. */
  requestTimeoutMs?: { header: number, whole: number }
  /** Time limit for the response, after the request has arrived. */
  responseTimeoutMs?: number
  /** At shutdown an idle connection stays open for this time, in which a request may arrive. */
  lingerMs?: number
}

export async function buildApp (options: AppOptions): Promise<FastifyInstance> {
  const {
    store, log, shared, thread, recorder, maxConnections, isLeaving, rateLimit,
    requestTimeoutMs = { header: 5000, whole: 10_000 }, responseTimeoutMs = 10_000, lingerMs = 1000
  } = options
  const warn = (sentence: string) => log.warn(sentence)
  const reporter = createErrorLog(log, options.failedAuthLimit, shared, recorder)
  const refusedConnections = oncePerMinute(count => {
    const { limit, reason } = maxConnections
    warn(`Connections refused: ${count}. ${limit} are open already; ${reason}.`)
  })
  const limitFailure = limitFailures(options.failedAuthLimit, shared.failures)
  const variables = { base_url: options.baseUrl }
  // A proxy may forward no path but that of BASE_URL.
  const prefixes = [...new Set(['', serverPath(contract.server, variables)])]
  const ofServer = serverOptions({
    reporter,
    requestTimeoutMs,
    stalledTimeoutMs: requestTimeoutMs.whole + responseTimeoutMs,
    keepAliveTimeoutMs: options.keepAliveTimeoutMs,
    // Counts the query, too.
    maxAddressLength: 2048,
    maxConnections: maxConnections.limit,
    connections: shared.connections,
    thread,
    threads: shared.threads,
    urgentPaths: healthPathsBelow(prefixes),
    drain: {
      delayMs: () => isLeaving() ? 0 : options.shutdownDelayMs,
      lingerMs,
      // The server looks for late requests each second, on a busy machine later.
      requestTimeoutMs: requestTimeoutMs.whole + 1500,
      responseTimeoutMs
    },
    ServerResponse: measuredResponse(recorder),
    onConnectionDropped () {
      recorder.count('connections')
      refusedConnections.add()
    }
  })
  const app: FastifyInstance = fastify({
    ...ofServer,
    serverFactory: handle => ofServer.serverFactory(behindProxy(handle, options.trustProxy)),
    bodyLimit: options.bodyLimit,
    trustProxy: options.trustProxy ?? false,
    // Serve requests that arrive during shutdown; each response closes its connection.
    return503OnClosing: false
  })
  // A turn of the event loop with many requests may last longer than a thread may be silent.
  app.server.on('request', () => Atomics.add(shared.beats, thread, 1))
  warnOfProxy(app, options.trustProxy, shared.warnedOfProxy, warn)
  logResponses(app, log, options.onTerminal)
  if (options.corsOrigin !== undefined) allowOrigins(app, options.corsOrigin)
  const labels = createRouteLabels(options.baseUrl)
  labelRoutes(app, labels.indexOf)
  let isClosing = false
  const onAuthenticated = rateLimit === undefined ? [] : [limitRate(rateLimit, shared.requests)]
  await app.register(serveContract({
    ...reporter,
    contract,
    handlers: {
      createPlant: createPlant(store)
    },
    verifiers: { bearerAuth: options.verifyToken },
    variables,
    realm: 'plant-store',
    responseTimeoutMs,
    lateMessage: 'The service did not respond in time. The request may have taken effect; ' +
      'sending the same request again is safe.',
    toHttpError,
    answers: options.answers,
    onErrorAnswer ({ status, body }, request) {
      const { message } = body as components['schemas']['Error']
      reporter.log({ status, message }, request)
    },
    hooks: () => ({ onRequest: onAuthenticated }),
    onRefused (error, request) {
      recorder.count('failedAuthentications')
      return limitFailure(error, request)
    },
    routes (own, authenticate) {
      if (options.metricsPort === undefined) {
        const hooks = [...authenticate([{ bearerAuth: [] }]), ...onAuthenticated]
        serveMetrics(own, shared, labels.paths, hooks)
      }
      const report = reportReadiness(log, shared.failing)
      serveHealth(own, store, report, () => isClosing, prefixes)
    },
    warn: thread === 0 ? warn : String
  }))
  app.addHook('onClose', async () => {
    reporter.close()
    refusedConnections.close()
  })
  // /readyz is 503 before the service waits.
  app.addHook('preClose', done => {
    isClosing = !isLeaving()
    done()
  })
  return app
}

function behindProxy (handle: RequestListener, trustProxy: Config['trustProxy']): RequestListener {
  if (trustProxy === undefined) return handle
  return (request, response) => {
    tidyForwardedFor(request)
    handle(request, response)
  }
}

/** StoreUnavailable becomes 503; any other error of a handler becomes 500. */
function toHttpError (thrown: unknown): HttpError | undefined {
  if (!(thrown instanceof StoreUnavailable)) return undefined
  return new HttpError(503, thrown.message, { cause: thrown.cause })
}
