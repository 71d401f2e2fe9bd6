// Registers each operation as a route that authenticates, validates and checks answers.
import auth from '@fastify/auth'
import type { FastifyInstance, FastifySerializerCompiler, HTTPMethods, onRequestHookHandler } from 'fastify'
import { createCompiler, createWriters, whenUsed } from './schema/index.ts'
import type { Content, Contract, Handlers, Operation, Verifiers } from './types.ts'
import { toRouteHandler } from './answers/answers.ts'
import type { AnswerOptions, AnyHandler } from './answers/answers.ts'
import { responseKey } from './answers/declared-answers.ts'
import { compileBody, readBodiesAsBytes } from './bodies/body-parser.ts'
import { bodyHooks, isPlain } from './bodies/body-readers.ts'
import type { BodyLimits } from './bodies/body-readers.ts'
import { kindOf } from './message/media-type.ts'
import { negotiate } from './answers/negotiation.ts'
import { servedOperation } from './routing/operation-hooks.ts'
import type { HooksOf } from './routing/operation-hooks.ts'
import { readParameters } from './parameters/parameters.ts'
import { routedOperations, toRoute } from './routing/paths.ts'
import { decorateRequests } from './message/request.ts'
import { methodsOf, refuseUnroutable } from './routing/routing.ts'
import { authenticate } from './security/security.ts'
import type { AnyVerifier, Guards } from './security/security.ts'
import { refuseSkipped, routedSkipped } from './routing/skipped.ts'

/** A contract and the code that serves it; `Ops` and `C` are as in types.ts. */
export interface Service<Ops, C extends Contract> extends AnswerOptions {
  contract: C
  handlers: Handlers<Ops, keyof Ops & keyof C['operations']>
  verifiers: Verifiers<C['securitySchemes']>
  /** Values for the variables of the server's address, by name; the contract has the defaults. */
  variables?: Readonly<Record<string, string>>
  /** Names the protection space in challenges (RFC 9110, section 11.5). */
  realm: string
  hooks?: HooksOf
  onRefused?: Guards['onRefused']
  /** Limits of the bodies that handlers read as they arrive; Fastify's bodyLimit is for the others. */
  bodyLimits?: Partial<BodyLimits>
}

/**
 * Adds a route for each operation of the contract, below the path of its server. Returns a function that makes the hooks
 * for further routes that need credentials.
 * @throws Error that names missing and extra handlers and verifiers
 */
export async function serveContract<Ops, C extends Contract> (
  app: FastifyInstance,
  service: Service<Ops, C>
): Promise<(security: Operation['security']) => onRequestHookHandler[]> {
  const { schemas, securitySchemes: schemes } = service.contract
  const handlers = service.handlers as unknown as Record<string, AnyHandler>
  const verifiers = service.verifiers as Record<string, AnyVerifier>
  refuseMismatch('operation', 'handler', service.contract.operations, handlers)
  refuseMismatch('security scheme', 'verifier', schemes, verifiers)

  const { realm, onRefused } = service
  const guards = { schemes, verifiers, realm, onRefused }
  const operations = routedOperations(service.contract, service.variables ?? {})
  const isLarge = operations.length > mostCompiledAtStart
  const compileRequest = prepare(createCompiler(schemas, 'request'), isLarge)
  const compileAnswer = prepare(createCompiler(schemas, 'answer'), isLarge)
  const writerOf = prepare(createWriters(schemas, compileAnswer), isLarge)
  const bodyHooksOf = bodyHooks(app, schemas, compileRequest, service.bodyLimits)
  const answers = { ...service, schemas, compile: compileAnswer, writerOf }
  await app.register(auth)
  decorateRequests(app)
  app.setSerializerCompiler((({ schema }) => writerOf(schema)) as FastifySerializerCompiler<object>)
  readBodiesAsBytes(app, operations)
  const skipped = routedSkipped(service.contract, service.variables ?? {})
  const all = [...operations, ...skipped]
  refuseUnroutable(app, all)
  for (const operation of operations) {
    const served = servedOperation(operation)
    const { onRequest = [], onSend = [], ...hooks } = service.hooks?.(served) ?? {}
    const ofBody = bodyHooksOf(operation.body)
    app.route({
      ...hooks,
      config: { operation: served },
      method: methodsOf(operation, all) as HTTPMethods[],
      url: toRoute(operation.template),
      exposeHeadRoute: false,
      schema: routeSchema(operation),
      validatorCompiler: compileBody(compileRequest, operation.body, schemas),
      onRequest: [
        ...authenticate(app, operation.security, guards),
        ...[onRequest].flat(),
        ofBody.onRequest,
        ...readParameters(operation, schemas, compileRequest, schemes),
        ...negotiate(operation.responses)
      ],
      preValidation: ofBody.preValidation ?? [],
      onSend: [onSend, ofBody.onSend ?? []].flat(),
      handler: toRouteHandler(handlers[operation.id] as AnyHandler, operation, answers)
    })
  }
  refuseSkipped(app, skipped, all)
  return security => authenticate(app, security, guards)
}

/** So many are compiled before the service is ready. With more operations, a schema waits for its first value. */
const mostCompiledAtStart = 50

function prepare<Value, Result> (compile: (schema: object) => (value: Value) => Result, isLarge: boolean) {
  return isLarge ? whenUsed(compile) : compile
}

/** Fastify validates a plain body and writes JSON; the other media types have their own readers and writers. */
function routeSchema ({ body, responses }: Operation) {
  const [media = {}] = Object.values(body?.content ?? {})
  const response = Object.entries(responses).map(([key, { content = {} }]) => {
    return [responseKey(key), { content: jsonOf(content) }] as const
  })
  return {
    ...body !== undefined && isPlain(body) && { body: media.schema ?? {} },
    response: Object.fromEntries(response.filter(([, { content }]) => Object.keys(content).length > 0))
  }
}
function jsonOf (content: Content): Record<string, { schema: object }> {
  const json = Object.entries(content).filter(([type]) => kindOf(type) === 'json')
  return Object.fromEntries(json.map(([type, { schema = {} }]) => [type, { schema }]))
}

/** TypeScript reports these errors too, unless a cast hides them. */
function refuseMismatch (wantedKind: string, givenKind: string, wanted: object, given: object): void {
  const missing = namesOnlyIn(wanted, given).map(name => `The ${wantedKind} ${name} has no ${givenKind}.`)
  const extra = namesOnlyIn(given, wanted).map(name => `The ${givenKind} ${name} has no ${wantedKind} in the contract.`)
  if (missing.length + extra.length > 0) throw new Error([...missing, ...extra].join(' '))
}

function namesOnlyIn (one: object, other: object): string[] {
  return Object.keys(one).filter(name => !Object.hasOwn(other, name))
}
