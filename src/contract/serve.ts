// Serves a contract on a Fastify application: a route for each operation.
import auth from '@fastify/auth'
import type { FastifyInstance, FastifySerializerCompiler, onRequestHookHandler } from 'fastify'
import type { AnswerOptions, AnyHandler } from './answers/answers.ts'
import { readBodiesAsBytes } from './bodies/body-parser.ts'
import { bodyHooks, type BodyLimits } from './bodies/body-readers.ts'
import { keepTicksFast } from './server/next-tick.ts'
import { routedOperations, routedSkipped } from './message/paths.ts'
import { decorateRequests } from './message/request-fields.ts'
import { addRoute, type HooksOf } from './routing/operation-route.ts'
import { answerSkipped, answerUnroutable, methodsOf } from './routing/routing.ts'
import { createCompiler, createWriters, whenUsed } from './schema/index.ts'
import { type AnyVerifier, authenticate, type Guards } from './security/security.ts'
import type { Handlers, Verifiers } from './types/handler.ts'
import type { Contract, Operation } from './types/contract.ts'

/** A contract and the code that serves it; `Ops` and `C` are as in types/handler.ts. */
export interface ContractService<Ops, C extends Contract> extends AnswerOptions {
  contract: C
  handlers: Handlers<Ops, keyof Ops & keyof C['operations']>
  verifiers: Verifiers<C['securitySchemes']>
  /** Values for the variables of the server's address, by name; the contract has the defaults. */
  variables?: Readonly<Record<string, string>>
  /** Names the protection space in challenges (RFC 9110, section 11.5). */
  realm: string
  hooks?: HooksOf
  onRefused?: Guards['onRefused']
  /** Limits of bodies that handlers read as they arrive; Fastify's bodyLimit is for the others. */
  bodyLimits?: Partial<BodyLimits>
}

/** Returns the hooks of a further route that needs credentials. */
type AuthenticateRoute = (security: Operation['security']) => onRequestHookHandler[]

/**
 * Adds a route for each operation of the contract, below the path of its server.
 * @throws Error that names missing and extra handlers and verifiers
 */
export async function serveContract<Ops, C extends Contract> (
  app: FastifyInstance,
  service: ContractService<Ops, C>
): Promise<AuthenticateRoute> {
  keepTicksFast()
  const { contract, variables = {}, realm, onRefused, hooks: hooksOf, bodyLimits } = service
  const { schemas, securitySchemes: schemes } = contract
  const handlers = service.handlers as unknown as Record<string, AnyHandler>
  const verifiers = service.verifiers as Record<string, AnyVerifier>
  requireSameNames('operation', 'handler', contract.operations, handlers)
  requireSameNames('security scheme', 'verifier', schemes, verifiers)

  const operations = routedOperations(contract, variables)
  const skipped = routedSkipped(contract, variables)
  const all = [...operations, ...skipped]
  // Few schemas are needed soon after the start.
  const compileRequest = whenUsed(createCompiler(schemas, 'request'))
  const compile = whenUsed(createCompiler(schemas, 'answer'))
  const writerOf = createWriters(compile)
  const guards = { schemes, verifiers, realm, onRefused }
  const bodyHooksOf = bodyHooks(app, schemas, compileRequest, bodyLimits)
  const answers = { ...service, schemas, compile, writerOf }
  const options = { handlers, hooksOf, guards, compileRequest, bodyHooksOf, answers }

  await app.register(auth)
  decorateRequests(app)
  app.setSerializerCompiler((({ schema }) => writerOf(schema)) as FastifySerializerCompiler<object>)
  readBodiesAsBytes(app, operations)
  answerUnroutable(app, all)
  for (const operation of operations) addRoute(app, operation, methodsOf(operation, all), options)
  answerSkipped(app, skipped, all)
  return security => authenticate(app, security, guards)
}

/** TypeScript reports these errors too, unless a cast hides them. */
function requireSameNames (kind: string, givenKind: string, wanted: object, given: object): void {
  const problems: string[] = []
  for (const name of Object.keys(wanted)) {
    if (!Object.hasOwn(given, name)) problems.push(`The ${kind} ${name} has no ${givenKind}.`)
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(wanted, name)) continue
    problems.push(`The ${givenKind} ${name} has no ${kind} in the contract.`)
  }
  if (problems.length > 0) throw new Error(problems.join(' '))
}

/** Sentences for the log at startup: what anyone may call, and what is not served. */
export function describeContract ({ operations, skipped }: Contract): string[] {
  const sentences: string[] = []
  for (const { method, url, security } of Object.values(operations)) {
    const isOpen = security.length === 0 ||
      security.some(requirement => Object.keys(requirement).length === 0)
    if (isOpen) sentences.push(`${method} ${url} needs no credentials.`)
  }
  for (const { method, url, reason } of skipped) {
    sentences.push(`${method} ${url} is not served: ${reason}.`)
  }
  return sentences
}
