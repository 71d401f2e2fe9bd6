// Serves a contract on Fastify: a plugin with a route for each operation.
import auth from '@fastify/auth'
import type { FastifyInstance, FastifyPluginAsync, onRequestHookHandler } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { AnswerOptions, AnyHandler } from './answers/answers.ts'
import { readBodiesAsBytes } from './bodies/body-parser.ts'
import { bodyHooks, type BodyLimits } from './bodies/body-readers.ts'
import { docsPath, docsRedirects, docsServers, serveDocs } from './docs/docs-page.ts'
import { answerErrors } from './message/fastify-errors.ts'
import { addMethods } from './message/methods.ts'
import {
  type RoutedOperation, routedOperations, routedSkipped, serverPath, toRoute, withoutSlash
} from './message/paths.ts'
import { decorateRequests } from './message/request-fields.ts'
import { answerDefaults, completeReporter, faultLog } from './errors/reporter.ts'
import { addRoute, type HooksOf } from './routing/operation-route.ts'
import { answerSkipped, answerUnroutable, methodsOf, routesWithHead } from './routing/routing.ts'
import { createCompiler, createWriters } from './schema/index.ts'
import { type AnyVerifier, authenticate, type Guards } from './security/security.ts'
import { shareReporter } from './server-options.ts'
import {
  correctMismatches, mismatchesOf, refuseMisspelt, requireForms, requireLimits,
  requireLiteralPrefix, variablesOf
} from './service-checks.ts'
import type { ErrorReporter } from './server/error-reporter.ts'
import { keepTicksFast } from './server/next-tick.ts'
import type { Handlers, Verifiers } from './types/handler.ts'
import type { Contract, Operation, ServedContract } from './types/contract.ts'

/**
 * A contract, the code that serves it, and what the owner of the service wants otherwise. `Ops` and
 * `C` are as in types/handler.ts.
 */
export interface ContractService<Ops, C extends Contract>
  extends Partial<AnswerOptions & ErrorReporter> {
  contract: ServedContract<Ops, C>
  handlers: Handlers<Ops, keyof Ops & keyof C['operations'], C['securitySchemes']>
  verifiers: Verifiers<C['securitySchemes']>
  /** Values for the variables of the server's address, by name; the contract has the defaults. */
  variables?: Readonly<Record<string, string>>
  /**
   * Names the protection space in challenges (RFC 9110, section 11.5). By default the title of the
   * contract.
   */
  realm?: string
  /** Returns Fastify's hooks of each operation, such as by its extensions. By default none. */
  hooks?: HooksOf
  /** Gets the error of refused credentials, 400, 401 or 403, and returns the one to send. */
  onRefused?: Guards['onRefused']
  /**
   * Limits of bodies that handlers read as they arrive, by default 100 MiB; Fastify's bodyLimit is
   * for the others.
   */
  bodyLimits?: Partial<BodyLimits>
  /** Whether the page /docs is served, and the contract below it. By default it is. */
  docs?: boolean
  /** Adds further routes, whose errors have the shape of the contract's. */
  routes?: (app: FastifyInstance, authenticate: AuthenticateRoute) => void | Promise<void>
  /** Gets sentences at the start: which operations are open or not served. By default app.log. */
  warn?: (sentence: string) => void
}

/** Returns the hooks of a further route that needs credentials. */
export type AuthenticateRoute = (security: Operation['security']) => onRequestHookHandler[]

/**
 * Makes a Fastify plugin that serves a contract: a route for each operation, every error in one
 * shape, and the page /docs. A prefix of the plugin replaces the path of the contract's server.
 * @throws Error, when it is registered, that names missing and extra handlers and verifiers, a
 *   limit that is none, a misspelt option, or a prefix with parameters
 */
export function serveContract<Ops, C extends Contract> (
  service: ContractService<Ops, C>
): FastifyPluginAsync {
  return fastifyPlugin(app => addContract(app, service as object as AnyService), {
    name: 'fastify-openapi-contract', fastify: '5.x', encapsulate: true
  })
}

type AnyService = ContractService<Record<string, unknown>, Contract>

async function addContract (app: FastifyInstance, service: AnyService): Promise<void> {
  keepTicksFast()
  refuseMisspelt('serveContract() has no option', service, optionNames)
  requireLiteralPrefix(app.prefix)
  requireForms(service)
  const { contract, variables = {}, hooks: hooksOf, onRefused, bodyLimits, routes } = service
  const { document, schemas, securitySchemes: schemes } = contract
  const { realm = document.info.title, warn = sentence => app.log.warn(sentence) } = service
  const handlers = service.handlers as Record<string, AnyHandler>
  const verifiers = service.verifiers as Record<string, AnyVerifier>
  const mismatches = [
    ...mismatchesOf('operation', 'handler', contract.operations, handlers),
    ...mismatchesOf('security scheme', 'verifier', schemes, verifiers)
  ]
  if (mismatches.length > 0) throw new Error([...mismatches, correctMismatches].join(' '))
  const namesOfVariables = variablesOf(contract)
  refuseMisspelt('The address of the contract has no variable', variables, namesOfVariables)
  refuseMisspelt('bodyLimits has no', { ...bodyLimits }, limitNames)
  requireLimits({ responseTimeoutMs: service.responseTimeoutMs, ...bodyLimits })

  const operations = routedOperations(contract, variables, app.prefix)
  const skipped = routedSkipped(contract, variables, app.prefix)
  const all = [...operations, ...skipped]
  const compileRequest = createCompiler(schemas, 'request')
  const compile = createCompiler(schemas, 'answer')
  const writerOf = createWriters(compile)
  const bodyHooksOf = bodyHooks(app, schemas, compileRequest, bodyLimits)
  const reporter = completeReporter(app, contract, compile, { ...service, warn })
  const logFault = faultLog(reporter, service.logFault)
  const answers = { ...answerDefaults, ...service, logFault, schemas, compile, writerOf }
  const timeoutMs = answers.responseTimeoutMs
  const guards = { schemes, verifiers, realm, onRefused, timeoutMs }
  const options = { handlers, hooksOf, guards, compileRequest, bodyHooksOf, answers }
  const base = withoutSlash(app.prefix)
  const pages = docsPrefixes(app, service).filter(prefix => {
    const url = toRoute(decodeURI(prefix + docsPath))
    const isFree = !all.some(({ route }) => route === url) &&
      !app.hasRoute({ method: 'GET', url: base + url })
    if (!isFree) warn(`The page of the contract is not served: ${base}${url} is taken.`)
    return isFree
  })

  shareReporter(app, reporter, warn)
  answerErrors(app, reporter, answers.toHttpError)
  await app.register(auth)
  decorateRequests(app)
  addMethods(app, all)
  readBodiesAsBytes(app, operations)
  answerUnroutable(app, all, docsRedirects(pages.map(prefix => base + prefix)))
  const withHead = routesWithHead(all)
  for (const operation of operations) {
    addRoute(app, operation, methodsOf(operation, withHead), options)
  }
  answerSkipped(app, skipped, all)
  await routes?.(app, security => authenticate(app, security, guards))
  const path = serverPath(contract.server, variables)
  const shown = { ...document, ...docsServers(document, app.prefix, path) }
  await serveDocs(app, shown, variables, pages, all.length)
  const unreachable = contract.skipped.filter(({ isReachable }) => !isReachable)
  const named = unreachable.map(operation => ({ ...operation, template: operation.url }))
  describeContract(operations, [...skipped, ...named]).forEach(warn)
}

/** An option that is missing here does not compile: it would be refused as misspelt. */
const optionNames = Object.keys({
  contract: true,
  handlers: true,
  verifiers: true,
  variables: true,
  realm: true,
  hooks: true,
  onRefused: true,
  bodyLimits: true,
  docs: true,
  routes: true,
  warn: true,
  responseTimeoutMs: true,
  lateMessage: true,
  toHttpError: true,
  onErrorAnswer: true,
  answers: true,
  logFault: true,
  errorBody: true,
  contentType: true,
  log: true
} satisfies Record<keyof AnyService, true>)

const limitNames = Object.keys({
  streamBytes: true, lineBytes: true, fileBytes: true, parts: true, fieldBytes: true
} satisfies Record<keyof BodyLimits, true>)

/** Where the page of the contract is: a proxy may forward no path but that of the server. */
function docsPrefixes (
  { prefix }: FastifyInstance,
  { docs = true, contract, variables = {} }: AnyService
): string[] {
  if (!docs) return []
  return prefix === '' ? [...new Set(['', serverPath(contract.server, variables)])] : ['']
}

/** Sentences for the log at startup: what anyone may call, and what is not served. */
function describeContract (
  operations: RoutedOperation[],
  skipped: Array<Pick<RoutedOperation, 'method' | 'template'> & { reason: string }>
): string[] {
  const sentences: string[] = []
  for (const { method, template, security } of operations) {
    const isOpen = security.length === 0 ||
      security.some(requirement => Object.keys(requirement).length === 0)
    if (isOpen) sentences.push(`${method} ${template} needs no credentials.`)
  }
  for (const { method, template, reason } of skipped) {
    sentences.push(`${method} ${template} is not served: ${reason}.`)
  }
  return sentences
}
