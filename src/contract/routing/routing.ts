// Answers the requests that no handler gets: no sound Host or body, an unknown path, another method
// of a known path, or an operation that is not served.
import type {
  FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, onRequestHookHandler, RouteOptions
} from 'fastify'
import type { Server } from 'node:http'
import { followsLastResponse, framingFault } from '../server/framing.ts'
import { HttpError } from '../server/http-error.ts'
import { didYouMean } from '../message/did-you-mean.ts'
import { pathPattern, type Routed, withoutSlash } from '../message/paths.ts'
import { decodedPath } from '../message/request-texts.ts'

interface Path {
  template: string
  pattern: RegExp
  methods: HTTPMethods[]
}

/** The paths of all contracts of a server: one of them answers the requests that no route has. */
const pathsOf = new WeakMap<Server, Path[]>()

/**
 * Answers a request that no operation answers: 400 without a valid Host (RFC 9112, section 3.2),
 * 404 for an unknown path, 405 for another method of a known path and 204 for its OPTIONS, both
 * with Allow (RFC 9110, section 10.2.1). It does so before the body is read, and without
 * credentials, because the contract is public.
 * @param redirects addresses by decoded path, which a GET of a path without routes gets
 */
export function answerUnroutable (
  app: FastifyInstance,
  operations: Routed[],
  redirects: ReadonlyMap<string, string>
): void {
  const paths = pathsOf.get(app.server) ?? []
  paths.push(...listPaths(operations))
  pathsOf.set(app.server, paths)
  // Those beside the contract, such as /docs.
  const routes = new Set(operations.map(({ route }) => withoutSlash(app.prefix) + route))
  app.addHook('onRoute', ({ url, method }) => {
    // The files of a folder, but not those of the root, as which anything may be.
    const template = url.replace(/(?<=\w\/)\*$/, '{file}')
    if (routes.has(url) || url.includes('{') || /[:*]/.test(template)) return
    paths.push({ template, pattern: pathPattern(template), methods: [method].flat() })
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (followsLastResponse(request.raw)) {
      reply.hijack()
      return
    }
    const fault = framingFault(request.raw)
    if (fault !== undefined) throw fault
    if (!request.is404) return done()
    const sent = decodedPath(request)
    const methods = new Set<string>()
    for (const path of paths) {
      if (path.pattern.test(sent)) path.methods.forEach(method => methods.add(method))
    }
    const address = methods.size === 0 ? redirects.get(sent) : undefined
    if (address !== undefined) methods.add('GET').add('HEAD')
    if (address !== undefined && methods.has(request.method)) reply.redirect(address)
    else if (methods.size > 0) answerUnhandled(request, reply, sent, methods)
    else throw new HttpError(404, `There is nothing at ${sent}.${similarTo(sent, paths)}`)
  })
}

/** Each takes up to 4 microseconds, and strangers send unknown paths. */
const maxCompared = 100

/** Where other services have their contract, or its page. */
const otherDocs =
  /(?:\/docs)?\/(?:openapi|swagger(?:-ui)?|api-docs)(?:(?:\/index)?\.html|\.(json|ya?ml))?$/

/** A question with the path without a slash at its end, or with a path that has no parameters. */
function similarTo (unknown: string, paths: Path[]): string {
  const path = unknown.replace(/(?<=.)\/$/, '')
  if (paths.some(({ pattern }) => pattern.test(path))) return ` Did you mean ${path}?`
  const sent = path.replace(otherDocs, (_, format?: string) => {
    return format === undefined ? '/docs' : `/docs/${format.replace('yml', 'yaml')}`
  })
  const plain = paths.map(({ template }) => template).filter(template => !template.includes('{'))
  // The caller may have left out the path of the server, or have sent another one.
  const isPart = (whole: string, end: string) => end.length > 1 && whole.endsWith(end)
  const complete = plain.find(template => isPart(template, sent)) ??
    plain.find(template => isPart(sent, template))
  if (complete !== undefined) return ` Did you mean ${complete}?`
  const similar = plain.filter(({ length }) => Math.abs(length - sent.length) <= 3)
  const question = didYouMean(sent, similar.slice(0, maxCompared))
  // As for /plants/300, where no operation has the id in its path.
  const outer = plain.find(template => path.startsWith(`${template}/`))
  return question === '' && outer !== undefined ? ` Did you mean ${outer}?` : question
}

function answerUnhandled (
  { method }: FastifyRequest,
  reply: FastifyReply,
  sent: string,
  methods: ReadonlySet<string>
): void {
  const allow = [...methods, 'OPTIONS'].join(', ')
  if (method !== 'OPTIONS') {
    const message = `${sent} does not support ${method}, only ${allow}.`
    throw new HttpError(405, message, { headers: { Allow: allow } })
  }
  reply.code(204).header('Allow', allow).send()
}

function listPaths (operations: Routed[]): Path[] {
  const paths: Path[] = []
  // Templates that differ only in the names of parameters are one path.
  for (const siblings of Map.groupBy(operations, ({ route }) => route).values()) {
    const [{ template }] = siblings as [Routed]
    const withHead = routesWithHead(siblings)
    const methods = siblings.flatMap(operation => methodsOf(operation, withHead))
    paths.push({ template, pattern: pathPattern(template), methods })
  }
  return paths
}

/** The routes for which a contract declares HEAD. */
export function routesWithHead (operations: Routed[]): ReadonlySet<string> {
  const heads = operations.filter(({ method }) => method === 'HEAD')
  return new Set(heads.map(({ route }) => route))
}

/** GET includes HEAD (RFC 9110, section 9.3.2), unless the contract declares HEAD for the path. */
export function methodsOf (
  { method, route }: Routed,
  withHead: ReadonlySet<string>
): HTTPMethods[] {
  return method === 'GET' && !withHead.has(route) ? ['GET', 'HEAD'] : [method as HTTPMethods]
}

/**
 * Answers skipped operations 501 (RFC 9110, section 15.6.2), without credentials: the contract is
 * public. An operation with the same path, whose parameters have other names, may be served.
 */
export function answerSkipped (
  app: FastifyInstance,
  skipped: Routed[],
  operations: Routed[]
): void {
  const message = 'The service does not implement this operation of its contract.'
  const onRequest: onRequestHookHandler = (_request, _reply, done) => {
    done(new HttpError(501, message))
  }
  const withHead = routesWithHead(operations)
  for (const operation of skipped) {
    const url = operation.route
    for (const method of methodsOf(operation, withHead)) {
      if (app.hasRoute({ method, url: withoutSlash(app.prefix) + url })) continue
      addPlainRoute(app, { method, url, onRequest, handler: String })
    }
  }
}

/** Adds a route for exactly its methods and its path. */
function addPlainRoute (app: FastifyInstance, route: RouteOptions): void {
  const schema = { hide: true }
  app.route({ ...route, schema, exposeHeadRoute: false, prefixTrailingSlash: 'slash' })
}
