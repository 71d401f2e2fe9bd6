// Builds the Fastify app from the contract, the verifier and the handlers. It does not listen.
import fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Logger } from 'pino'
import { document } from '../../generated/document.ts'
import * as contract from '../../generated/operations.ts'
import type { components } from '../../generated/types.ts'
import { unlimited } from '../server/connection-limit.ts'
import type { ConnectionLimit } from '../server/connection-limit.ts'
import {
  answerErrors, describeContract, drainOnClose, errorOptions, HttpError, routerOptions, serveContract, serveDocs,
  serverPath
} from '../contract/index.ts'
import type { ErrorReporter, TokenVerifier } from '../contract/index.ts'
import { allowOrigins } from './cors.ts'
import { limitFailures } from '../limits/failed-auth.ts'
import { healthPathsBelow, serveHealth } from './health.ts'
import { createHttpServer } from '../server/http-server.ts'
import { logError, logFault, logResponses } from '../telemetry/log.ts'
import { labelRoutes } from '../telemetry/measured-response.ts'
import { Recorder } from '../telemetry/recorder.ts'
import { routesOf, serveMetrics } from './metrics.ts'
import { createPlant } from '../plants/create-plant.ts'
import { errorBody } from '../plants/error-body.ts'
import type { Operations } from '../plants/operations.ts'
import { StoreUnavailable } from '../plants/plant-store.ts'
import type { PlantStore } from '../plants/plant-store.ts'
import { limitRate } from '../limits/rate-limit.ts'
import { createShared } from './shared-counts.ts'
import type { Shared } from './shared-counts.ts'

export interface AppOptions {
  store: PlantStore
  verifyToken: TokenVerifier
  log?: Logger
  /** The value of `{base_url}` in the served contract. */
  baseUrl?: string
  /** Largest body in bytes. */
  bodyLimit?: number
  /** Requests per minute for each token; unlimited by default. */
  rateLimit?: number | undefined
  /** Requests per minute and address without accepted credentials, and lines for them in the log; default: no limit. */
  failedAuthLimit?: number
  /** Addresses and networks of the proxies whose X-Forwarded-For names the caller. */
  trustProxy?: string[] | false | undefined
  /** Origins whose pages may call the service. */
  corsOrigin?: string[] | undefined
  /** Connections that may be open; unlimited by default. */
  maxConnections?: ConnectionLimit
  /** The index of this thread, and what all threads share; by default there is one. */
  thread?: number
  shared?: Shared
  /** What becomes of an answer that breaks the contract: a 500, or a line in the log. */
  answers?: 'enforce' | 'log'
  /** Time limit for the response, after the request has arrived. */
  responseTimeoutMs?: number
  /** Time limits for the headers and for the whole request. */
  requestTimeoutMs?: { header: number, whole: number }
  /** An idle connection is closed after this time. */
  keepAliveTimeoutMs?: number
  /** At shutdown: time until the service stops accepting connections, and time until it closes idle ones. */
  drainMs?: { delayMs: number, lingerMs: number }
  /** Whether app.close() leaves the service to other threads: then /readyz stays 200, and the delay is 0. */
  isLeaving?: () => boolean
  /** Of this thread. */
  recorder?: Recorder
  /** Whether /metrics is here, for accepted tokens. */
  hasMetrics?: boolean
}

export async function buildApp ({
  store, verifyToken, log = pino({ level: 'silent' }), baseUrl = '/', bodyLimit = 65536, rateLimit,
  failedAuthLimit = Infinity, trustProxy = false, corsOrigin, maxConnections = unlimited, answers = 'enforce',
  responseTimeoutMs = 10_000, requestTimeoutMs = { header: 5000, whole: 10_000 }, keepAliveTimeoutMs = 72_000,
  drainMs = { delayMs: 0, lingerMs: 0 }, isLeaving = () => false, thread = 0, shared = createShared(1),
  recorder = new Recorder(shared.metrics, thread), hasMetrics = true
}: AppOptions): Promise<FastifyInstance> {
  const warn = (sentence: string) => log.warn(sentence)
  const failures = limitFailures(failedAuthLimit, shared, warn)
  const reporter: ErrorReporter = {
    errorBody,
    log: (error, request) => failures.sumUp(error, request) || logError(log, error, request)
  }
  const variables = { base_url: baseUrl }
  // A proxy may forward no path but that of BASE_URL.
  const prefixes = [...new Set(['', serverPath(contract.server, variables)])]
  const onAuthenticated = rateLimit === undefined ? [] : [limitRate(rateLimit, shared.requests)]
  const onRefused: typeof failures.refuse = (error, request) => {
    recorder.count('failedAuthentications')
    return failures.refuse(error, request)
  }
  const app: FastifyInstance = fastify({
    ...errorOptions(reporter),
    bodyLimit,
    routerOptions,
    trustProxy,
    // The shutdown has its own limits of time.
    pluginTimeout: 0,
    // Serve requests that arrive during shutdown; each response closes its connection.
    return503OnClosing: false,
    serverFactory: handle => createHttpServer(handle, {
      reporter,
      requestTimeoutMs,
      stalledTimeoutMs: requestTimeoutMs.whole + responseTimeoutMs,
      keepAliveTimeoutMs,
      maxConnections,
      urgentPaths: healthPathsBelow(prefixes),
      thread,
      shared,
      recorder,
      warn
    })
  })
  answerErrors(app, reporter)
  logResponses(app, log)
  if (corsOrigin !== undefined) allowOrigins(app, corsOrigin)
  const routes = routesOf(baseUrl)
  labelRoutes(app, routes.indexOf)
  const authenticate = await serveContract<Operations, typeof contract>(app, {
    contract,
    handlers: { createPlant: createPlant(store) },
    verifiers: { bearerAuth: verifyToken },
    variables,
    realm: 'plant-store',
    responseTimeoutMs,
    toHttpError,
    answers,
    logFault: logFault.bind(undefined, log),
    onErrorAnswer: ({ status, body }, request) => {
      reporter.log({ status, message: (body as components['schemas']['Error']).message }, request)
    },
    hooks: () => ({ onRequest: onAuthenticated }),
    onRefused
  })
  if (thread === 0) describeContract(contract).forEach(warn)
  if (hasMetrics) serveMetrics(app, shared, routes, [...authenticate([{ bearerAuth: [] }]), ...onAuthenticated])
  app.addHook('onClose', async () => failures.close())
  serveHealth(app, store, isLeaving, prefixes)
  // After serveHealth(): /readyz is 503 before the service waits.
  const delayMs = () => isLeaving() ? 0 : drainMs.delayMs
  drainOnClose(app, { ...drainMs, delayMs, requestTimeoutMs: requestTimeoutMs.whole, responseTimeoutMs })
  await serveDocs(app, document, variables, prefixes)
  return app
}

/** StoreUnavailable becomes 503; any other error of a handler becomes 500. */
function toHttpError (thrown: unknown): HttpError | undefined {
  return thrown instanceof StoreUnavailable ? new HttpError(503, thrown.message, { cause: thrown.cause }) : undefined
}
