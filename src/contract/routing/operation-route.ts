// Adds one operation as a Fastify route, with the hooks that the application has for it.
import type {
  FastifyInstance, FastifySchema, HTTPMethods, onRequestHookHandler, RouteShorthandOptions
} from 'fastify'
import { type AnswerOptions, type AnyHandler, toRouteHandler } from '../answers/answers.ts'
import type { AnswerSchemas } from '../answers/body-writers.ts'
import { negotiate } from '../answers/negotiation.ts'
import { compileBody } from '../bodies/body-parser.ts'
import { type bodyHooks, isPlain } from '../bodies/body-readers.ts'
import { didYouMean } from '../message/did-you-mean.ts'
import type { RoutedOperation } from '../message/paths.ts'
import { readParameters } from '../parameters/parameters.ts'
import type { Compile } from '../schema/index.ts'
import { authenticate, type Guards } from '../security/security.ts'
import type { Operation } from '../types/contract.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that a route serves; routes outside the contract have none. */
    operation?: ServedOperation
  }
}

/** An operation as its hooks see it. */
export interface ServedOperation {
  readonly id: string
  readonly method: string
  /** The path template as the contract writes it. */
  readonly path: string
  readonly tags: readonly string[]
  /** The members of the operation in the contract whose names begin with `x-`. */
  readonly extensions: Readonly<Record<string, unknown>>
}

/**
 * Fastify's hooks of one operation. Those of onRequest run after authentication and before the body
 * is read.
 */
export type OperationHooks = Pick<
  RouteShorthandOptions,
  'onRequest' | 'preParsing' | 'preHandler' | 'onSend' | 'onResponse' | 'onError' | 'onRequestAbort'
>

/** Returns the hooks of an operation, such as by its extensions; called once each, at startup. */
export type HooksOf = (operation: ServedOperation) => OperationHooks

/** What the routes of a contract share. */
export interface RouteOptions {
  handlers: Readonly<Record<string, AnyHandler>>
  hooksOf: HooksOf | undefined
  guards: Guards
  compileRequest: Compile
  bodyHooksOf: ReturnType<typeof bodyHooks>
  answers: AnswerOptions & AnswerSchemas
}

export function addRoute (
  app: FastifyInstance,
  operation: RoutedOperation,
  method: HTTPMethods[],
  { handlers, hooksOf, guards, compileRequest, bodyHooksOf, answers }: RouteOptions
): void {
  const { id, url, body, security, fields, tags = [], extensions = {} } = operation
  const { schemas } = answers
  const served = { id, method: operation.method, path: url, tags, extensions }
  const given = hooksOf?.(served) ?? {}
  requireHooks(id, given)
  const { onRequest = [], onSend = [], ...hooks } = given
  const ofBody = bodyHooksOf(operation)
  app.route({
    ...hooks,
    config: { operation: served },
    method,
    url: operation.route,
    prefixTrailingSlash: 'slash',
    exposeHeadRoute: false,
    schema: routeSchema(operation),
    validatorCompiler: compileBody(compileRequest, body, schemas),
    onRequest: [
      // Errors have them, too.
      ...fields === undefined ? [] : [sendFields(fields)],
      ...authenticate(app, security, guards),
      ...[onRequest].flat(),
      ofBody.onRequest,
      ...readParameters(operation, schemas, compileRequest, guards.schemes),
      ...negotiate(operation.responses)
    ],
    preValidation: ofBody.preValidation ?? [],
    onSend: [onSend, ofBody.onSend ?? []].flat(),
    handler: toRouteHandler(handlers[id] as AnyHandler, operation, answers)
  })
}

const hookNames: Array<keyof OperationHooks> = [
  'onRequest', 'preParsing', 'preHandler', 'onSend', 'onResponse', 'onError', 'onRequestAbort'
]

/** Fastify ignores an unknown hook of a route, which may be a guard; so do types after a spread. */
function requireHooks (id: string, hooks: object): void {
  const where = `The hooks of ${id}`
  if ('then' in hooks) throw new Error(`${where} must be an object, and not a promise.`)
  for (const [name, hook] of Object.entries(hooks)) {
    if (!(hookNames as string[]).includes(name)) {
      const question = didYouMean(name, hookNames)
      throw new Error(`${where} may be ${hookNames.join(', ')}, and not ${name}.${question}`)
    }
    if ([hook ?? []].flat().some(each => typeof each !== 'function')) {
      throw new Error(`${where} must be functions, but ${name} is none.`)
    }
  }
}

function sendFields (fields: Readonly<Record<string, string>>): onRequestHookHandler {
  return (_request, reply, done) => {
    reply.headers(fields)
    done()
  }
}

/** Fastify validates a plain body; other media types have readers. */
function routeSchema ({ body }: Operation): FastifySchema {
  // The page of the contract describes it: another one of the app does not.
  const hidden = { hide: true }
  if (body === undefined || !isPlain(body)) return hidden
  const [media = {}] = Object.values(body.content)
  return { ...hidden, body: media.schema ?? {} }
}
