// The application: the contract, who may call, and the domain, as a Fastify instance that never listens by itself.
import rateLimiter from '@fastify/rate-limit'
import fastify from 'fastify'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { pino } from 'pino'
import type { Logger } from 'pino'
import { document } from '../generated/document.ts'
import * as contract from '../generated/operations.ts'
import type { operations } from '../generated/types.ts'
import {
  answerErrors, answerServerErrors, callerOf, drainOnClose, errorOptions, HttpError, routerOptions, serveContract,
  serveDocs
} from './contract/index.ts'
import type { ErrorReporter, TokenVerifier } from './contract/index.ts'
import { serveHealth } from './health.ts'
import { logError, logResponses } from './log.ts'
import { createPlant } from './plants/create-plant.ts'
import { errorBody } from './plants/error-body.ts'
import { StoreUnavailable } from './plants/plant-store.ts'
import type { PlantStore } from './plants/plant-store.ts'

export interface Parts {
  store: PlantStore
  verifyToken: TokenVerifier
  log?: Logger
  /** The value of `{base_url}` in the served contract. */
  baseUrl?: string
  /** Largest body in bytes. */
  bodyLimit?: number
  /** Requests per minute for each token; unlimited by default. */
  rateLimit?: number | undefined
  /** Milliseconds for the response, once a request has arrived. */
  answerWithinMs?: number
  /** Milliseconds for a request to arrive: its header, and the whole. */
  arriveWithinMs?: { header: number, whole: number }
}

export async function buildApp ({
  store, verifyToken, log = pino({ level: 'silent' }), baseUrl = '/', bodyLimit = 65536, rateLimit,
  answerWithinMs = 10_000, arriveWithinMs = { header: 5000, whole: 10_000 }
}: Parts): Promise<FastifyInstance> {
  const reporter: ErrorReporter = { errorBody, log: (error, request) => logError(log, error, request) }
  const variables = { base_url: baseUrl }
  const app: FastifyInstance = fastify({
    ...errorOptions(reporter),
    bodyLimit,
    routerOptions,
    requestTimeout: arriveWithinMs.whole,
    // Serve requests that arrive while closing; each response then ends its connection.
    return503OnClosing: false,
    http: {
      headersTimeout: arriveWithinMs.header,
      connectionsCheckingInterval: Math.min(1000, arriveWithinMs.header),
      requireHostHeader: false
    }
  })
  answerErrors(app, reporter)
  answerServerErrors(app.server, reporter)
  drainOnClose(app, arriveWithinMs.whole, answerWithinMs)
  logResponses(app, log)
  await serveContract<operations, typeof contract>(app, {
    contract,
    handlers: { createPlant: createPlant(store) },
    verifiers: { bearerAuth: verifyToken },
    variables,
    realm: 'plant-store',
    answerWithinMs,
    toHttpError,
    onAuthenticated: rateLimit === undefined ? [] : [await limiter(app, rateLimit)]
  })
  serveHealth(app, store)
  await serveDocs(app, document, variables)
  return app
}

/** The store's failure is temporary: 503. Any other error that a handler throws is a mistake of the service. */
function toHttpError (thrown: unknown): HttpError | undefined {
  return thrown instanceof StoreUnavailable ? new HttpError(503, thrown.message, { cause: thrown.cause }) : undefined
}

/** A hook that counts the requests of each caller per minute. */
async function limiter (app: FastifyInstance, perMinute: number): Promise<onRequestHookHandler> {
  await app.register(rateLimiter, { global: false })
  return app.rateLimit({
    max: perMinute,
    timeWindow: 60_000,
    keyGenerator: callerOf,
    errorResponseBuilder: (_request, { max }) =>
      new HttpError(429, `This token may make ${max} requests a minute. Retry-After says when to go on.`)
  }) as onRequestHookHandler
}
