// What becomes of a request before it reaches an operation: no Host, no such path, or not with this method.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { ServiceError } from '../../errors.ts'
import { pathOf, pathPattern, toRoute } from './paths.ts'
import type { Routed } from './paths.ts'
import { countHeader } from './security.ts'

interface Path { template: string, pattern: RegExp, methods: string[] }

/**
 * Settles what no operation will: 400 without a Host (RFC 9112, section 3.2), 404 for an unknown path, 405 for another
 * method of a known path and 204 for its OPTIONS, both with Allow (RFC 9110, section 10.2.1).
 * It does so before the body is read, and asks for no token: the contract is public.
 */
export function refuseUnroutable (app: FastifyInstance, operations: Routed[]): void {
  const paths = listPaths(operations)
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new ServiceError('invalid', 'The request has no Host header field.')
    }
    if (countHeader(request, 'host') > 1) throw new ServiceError('invalid', 'Host is sent more than once.')
    if (!request.is404) return done()
    const path = pathOf(request)
    refuse(request, reply, paths.find(({ pattern }) => pattern.test(path)))
  })
  for (const path of paths) shadow(app, path, paths)
}

/** A path that is written out is not answered by one that is a template of it (OpenAPI 3.1, section 4.8.8.2), whatever the method. */
function shadow (app: FastifyInstance, path: Path, paths: Path[]): void {
  const others = paths.filter(other => other !== path && other.pattern.test(path.template)).flatMap(({ methods }) => methods)
  const method = [...new Set(others)].filter(method => !path.methods.includes(method)) as HTTPMethods[]
  if (method.length === 0) return
  const settle = (request: FastifyRequest, reply: FastifyReply) => refuse(request, reply, path)
  app.route({ method, url: toRoute(path.template), exposeHeadRoute: false, onRequest: settle, handler: settle })
}

function refuse (request: FastifyRequest, reply: FastifyReply, path: Path | undefined): void {
  const sent = pathOf(request)
  if (path === undefined) throw new ServiceError('not-found', `There is nothing at ${sent}.`)
  const allow = [...new Set([...path.methods, 'OPTIONS'])].join(', ')
  if (request.method !== 'OPTIONS') {
    throw new ServiceError('method-not-allowed', `${sent} does not answer ${request.method}, only ${allow}.`, { headers: { Allow: allow } })
  }
  reply.code(204).header('Allow', allow).send()
}

/** The contract's paths as the router tries them: what is written out before what is a parameter, from the left. */
function listPaths (operations: Routed[]): Path[] {
  const byTemplate = Map.groupBy(operations, ({ template }) => template)
  const paths = Array.from(byTemplate, ([template, siblings]) => ({
    template,
    pattern: pathPattern(template),
    methods: siblings.flatMap(operation => methodsOf(operation, siblings))
  }))
  const rank = ({ template }: Path) => template.replace(/\{[^}]*\}/g, '\uffff').replaceAll('/', '\ufffe')
  return paths.sort((a, b) => rank(a) < rank(b) ? -1 : 1)
}

/** A path that answers GET answers HEAD, as if it were GET (RFC 9110, section 9.3.2), unless the contract says how. */
export function methodsOf ({ method, template }: Routed, operations: Routed[]): string[] {
  const hasHead = operations.some(other => other.template === template && other.method === 'HEAD')
  return method !== 'GET' || hasHead ? [method] : ['GET', 'HEAD']
}
