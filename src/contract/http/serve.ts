// Registers the operations of a contract with Fastify, each between its credentials and a guard on its answer.
import auth from '@fastify/auth'
import type { FastifyInstance, FastifySerializerCompiler, HTTPMethods, onRequestHookHandler } from 'fastify'
import { answerWith, responseKey } from './answers.ts'
import type { AnyHandler } from './answers.ts'
import { compileBodies, readBodiesAsJson, refuseMediaType } from './body.ts'
import { readParameters } from './parameters.ts'
import { routed, toRoute } from './paths.ts'
import { methodsOf, refuseUnroutable } from './routing.ts'
import { authenticate } from './security.ts'
import type { AnyVerifier } from './security.ts'
import type { Contract, Handlers, Operation, Verifiers } from '../types.ts'
import { createCompiler } from '../schema/validator.ts'
import { createWriters } from '../schema/writer.ts'

/** What serves a contract; `Ops` and `C` are as in types.ts. */
export interface Service<Ops, C extends Contract> {
  contract: C
  handlers: Handlers<Ops, C>
  verifiers: Verifiers<C['securitySchemes']>
  /** What the variables of the server's address stand for, by name; by default what the contract says. */
  variables?: Readonly<Record<string, string>>
  /** Names the protection space in challenges (RFC 9110, section 11.5). */
  realm: string
  /** Milliseconds that a handler has for its answer. */
  answerWithin: number
  /** Hooks that run once it is known who is calling. */
  onAuthenticated: onRequestHookHandler[]
}

/**
 * Adds a route for each operation of the contract, below the path of its server.
 * @throws Error naming every operation without a handler, handler without an operation, and likewise the verifiers
 */
export async function serveContract<Ops, C extends Contract> (app: FastifyInstance, service: Service<Ops, C>): Promise<void> {
  const { schemas, securitySchemes: schemes } = service.contract
  const handlers = service.handlers as unknown as Record<string, AnyHandler>
  const verifiers = service.verifiers as Record<string, AnyVerifier>
  refuseMismatch('operation', 'handler', service.contract.operations, handlers)
  refuseMismatch('security scheme', 'verifier', schemes, verifiers)

  const operations = routed(service.contract, service.variables ?? {})
  const compileRequest = createCompiler(schemas, 'request')
  const compileAnswer = createCompiler(schemas, 'answer')
  const writerOf = createWriters(schemas, compileAnswer)
  await app.register(auth)
  app.decorateRequest('principals')
  app.decorateRequest('parameters')
  app.setValidatorCompiler(compileBodies(compileRequest))
  app.setSerializerCompiler((({ schema }) => writerOf(schema)) as FastifySerializerCompiler<object>)
  readBodiesAsJson(app, operations)
  refuseUnroutable(app, operations)
  for (const operation of operations) {
    app.route({
      method: methodsOf(operation, operations) as HTTPMethods[],
      url: toRoute(operation.template),
      exposeHeadRoute: false,
      schema: routeSchema(operation),
      onRequest: [
        ...authenticate(app, operation.security, { schemes, verifiers, realm: service.realm }),
        ...service.onAuthenticated,
        refuseMediaType(operation.body),
        ...readParameters(operation, schemas, compileRequest)
      ],
      handler: answerWith(handlers[operation.id] as AnyHandler, operation, compileAnswer, service.answerWithin)
    })
  }
}

function routeSchema ({ body, responses }: Operation) {
  const declared = Object.entries(responses).flatMap(([key, { schema }]) => schema === undefined ? [] : [[responseKey(key), schema]])
  return { ...body && { body: body.schema }, response: Object.fromEntries(declared) }
}

/** The compiler refuses these already; this is for whoever went around it. */
function refuseMismatch (asked: string, given: string, wanted: object, present: object): void {
  const missing = Object.keys(wanted).filter(name => !Object.hasOwn(present, name)).map(name => `The ${asked} ${name} has no ${given}.`)
  const extra = Object.keys(present).filter(name => !Object.hasOwn(wanted, name)).map(name => `The ${given} ${name} has no ${asked} in the contract.`)
  if (missing.length + extra.length > 0) throw new Error([...missing, ...extra].join(' '))
}
