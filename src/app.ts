// The application: the contract, who may call, and the domain, as a Fastify instance that never listens by itself.
import rateLimiter from '@fastify/rate-limit'
import fastify from 'fastify'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { pino } from 'pino'
import type { Logger } from 'pino'
import { document } from '../generated/document.ts'
import * as contract from '../generated/operations.ts'
import type { components, operations } from '../generated/types.ts'
import { serveDocs } from './contract/http/docs.ts'
import { drainOnClose } from './contract/http/drain.ts'
import { answerErrors, answerServerErrors, errorOptions } from './contract/http/errors.ts'
import { routerOptions } from './contract/http/paths.ts'
import { serveContract } from './contract/http/serve.ts'
import type { TokenVerifier } from './contract/types.ts'
import { ServiceError } from './errors.ts'
import { serveHealth } from './health.ts'
import { callerOf, logAnswers } from './log.ts'
import { createPlant } from './plants/create-plant.ts'
import type { PlantStore } from './plants/plant-store.ts'

export interface Parts {
  store: PlantStore
  /** Whose token this is. */
  verifyToken: TokenVerifier
  log?: Logger
  /** What `{base_url}` stands for in the served contract. */
  baseUrl?: string
  /** Bytes that a body may have. */
  bodyLimit?: number
  /** Requests a minute for each token; any number by default. */
  rateLimit?: number | undefined
  /** Milliseconds for an answer, once a request has arrived. */
  answerWithin?: number
  /** Milliseconds for a request to arrive, its head and the whole of it. */
  arriveWithin?: { head: number, whole: number }
}

export async function buildApp ({
  store, verifyToken, log = pino({ level: 'silent' }), baseUrl = '/', bodyLimit = 65536, rateLimit,
  answerWithin = 10_000, arriveWithin = { head: 5000, whole: 10_000 }
}: Parts): Promise<FastifyInstance> {
  const voice = { errorBody, log }
  const variables = { base_url: baseUrl }
  const app: FastifyInstance = fastify({
    ...errorOptions(voice),
    bodyLimit,
    routerOptions,
    requestTimeout: arriveWithin.whole,
    // Requests that arrive while closing are still served: each answer then ends its connection.
    return503OnClosing: false,
    http: { headersTimeout: arriveWithin.head, connectionsCheckingInterval: Math.min(1000, arriveWithin.head), requireHostHeader: false }
  })
  answerErrors(app, voice)
  answerServerErrors(app.server, voice)
  drainOnClose(app, arriveWithin.whole, answerWithin)
  logAnswers(app, log)
  await serveContract<operations, typeof contract>(app, {
    contract,
    handlers: { createPlant: createPlant(store) },
    verifiers: { bearerAuth: verifyToken },
    variables,
    realm: 'plant-store',
    answerWithin,
    onAuthenticated: rateLimit === undefined ? [] : [await limiter(app, rateLimit)]
  })
  serveHealth(app, store)
  await serveDocs(app, document, variables)
  return app
}

function errorBody (status: number, message: string): components['schemas']['Error'] {
  return { error: status, message }
}

/** A hook that counts the requests of each caller by the minute. */
async function limiter (app: FastifyInstance, perMinute: number): Promise<onRequestHookHandler> {
  await app.register(rateLimiter, { global: false })
  return app.rateLimit({
    max: perMinute,
    timeWindow: 60_000,
    keyGenerator: callerOf,
    errorResponseBuilder: (_request, { max }) => new ServiceError('too-many-requests', `This token may make ${max} requests a minute. Retry-After says when to go on.`)
  }) as onRequestHookHandler
}
