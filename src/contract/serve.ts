// Registers the operations of a contract with Fastify, each between its credentials and a guard on its answer.
import auth from '@fastify/auth'
import type { FastifyInstance, HTTPMethods, onRequestHookHandler } from 'fastify'
import { answerWith, guard } from './answers.ts'
import type { AnyHandler } from './answers.ts'
import { compileBodies, readBodiesAsJson, refuseMediaType } from './body.ts'
import { refuseUnroutable } from './routing.ts'
import { authenticate } from './security.ts'
import type { BearerVerifier, Contract, Handlers, Operation, Verifiers } from './types.ts'
import { createValidator } from './validator.ts'

/** What serves a contract; `Ops` and `Schemes` are as in types.ts. */
export interface Service<Ops, Schemes> {
  contract: Contract & { readonly securitySchemes: Schemes }
  handlers: Handlers<Ops>
  verifiers: Verifiers<Schemes>
  /** Names the protection space in challenges (RFC 9110, section 11.5). */
  realm: string
  /** Milliseconds that a handler has for its answer. */
  answerWithin: number
  /** Hooks that run once it is known who is calling. */
  onAuthenticated: onRequestHookHandler[]
}

/**
 * Adds a route for each operation of the contract.
 * @throws Error naming every operation without a handler, handler without an operation, and likewise the verifiers
 */
export async function serveContract<Ops, Schemes> (app: FastifyInstance, service: Service<Ops, Schemes>): Promise<void> {
  const { operations, schemas, securitySchemes } = service.contract
  const handlers = service.handlers as Record<string, AnyHandler>
  const verifiers = service.verifiers as Record<string, BearerVerifier>
  refuseMismatch('operation', 'handler', operations, handlers)
  refuseMismatch('security scheme', 'verifier', securitySchemes as object, verifiers)

  const compile = createValidator(schemas)
  await app.register(auth)
  app.decorateRequest('principal', undefined)
  app.setValidatorCompiler(compileBodies(compile))
  readBodiesAsJson(app)
  app.addHook('onRequest', refuseUnroutable(operations))
  for (const [name, schema] of Object.entries(schemas)) app.addSchema({ $id: name, ...schema })
  for (const [id, handler] of Object.entries(handlers)) {
    const operation = operations[id] as Operation
    app.route({
      method: operation.method as HTTPMethods,
      url: operation.url,
      schema: routeSchema(operation),
      onRequest: [
        ...authenticate(app, operation.security, verifiers, service.realm),
        ...service.onAuthenticated,
        ...operation.body === undefined ? [] : [refuseMediaType(operation.body)]
      ],
      handler: answerWith(handler, guard(id, operation, compile), service.answerWithin)
    })
  }
}

function routeSchema ({ body, responses }: Operation) {
  const declared = Object.entries(responses).flatMap(([status, { schema }]) => schema === undefined ? [] : [[status, schema]])
  return { ...body && { body: body.schema }, response: Object.fromEntries(declared) }
}

/** The compiler refuses these already; this is for whoever went around it. */
function refuseMismatch (asked: string, given: string, wanted: object, present: object): void {
  const missing = Object.keys(wanted).filter(name => !(name in present)).map(name => `The ${asked} ${name} has no ${given}.`)
  const extra = Object.keys(present).filter(name => !(name in wanted)).map(name => `The ${given} ${name} has no ${asked} in the contract.`)
  if (missing.length + extra.length > 0) throw new Error([...missing, ...extra].join(' '))
}
