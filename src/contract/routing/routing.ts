// Answers requests that match no operation: no sound Host or body, unknown path, other method.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { followsLastResponse, framingFault } from '../../server/framing.ts'
import { HttpError } from '../../server/http-error.ts'
import { pathPattern, toRoute } from '../message/paths.ts'
import type { Routed } from '../message/paths.ts'
import { decodedPath } from '../message/request.ts'

interface Path { template: string, pattern: RegExp, methods: string[] }

/**
 * Answers a request that no operation answers: 400 without a valid Host (RFC 9112, section 3.2), 404 for an unknown
 * path, 405 for another method of a known path and 204 for its OPTIONS, both with Allow (RFC 9110, section 10.2.1).
 * It does so before the body is read, and without credentials, because the contract is public.
 */
export function refuseUnroutable (app: FastifyInstance, operations: Routed[]): void {
  const paths = listPaths(operations)
  app.addHook('onRequest', (request, reply, done) => {
    if (followsLastResponse(request.raw)) {
      reply.hijack()
      return
    }
    const fault = framingFault(request.raw)
    if (fault !== undefined) throw fault
    if (!request.is404) return done()
    const path = decodedPath(request)
    answerUnhandled(request, reply, paths.find(({ pattern }) => pattern.test(path)))
  })
  for (const path of paths) claimOtherMethods(app, path, paths)
}

/** A concrete path wins over a template that matches it, for every method (OpenAPI 3.1, section 4.8.8.2). */
function claimOtherMethods (app: FastifyInstance, path: Path, paths: Path[]): void {
  const matching = paths.filter(other => other !== path && other.pattern.test(path.template))
  const methods = new Set(matching.flatMap(({ methods }) => methods))
  const method = [...methods].filter(method => !path.methods.includes(method)) as HTTPMethods[]
  if (method.length === 0) return
  const answer = (request: FastifyRequest, reply: FastifyReply) => answerUnhandled(request, reply, path)
  app.route({ method, url: toRoute(path.template), exposeHeadRoute: false, onRequest: answer, handler: answer })
}

function answerUnhandled (request: FastifyRequest, reply: FastifyReply, path: Path | undefined): void {
  const sent = decodedPath(request)
  if (path === undefined) throw new HttpError(404, `There is nothing at ${sent}.`)
  const allow = [...new Set([...path.methods, 'OPTIONS'])].join(', ')
  if (request.method !== 'OPTIONS') {
    const message = `${sent} does not support ${request.method}, only ${allow}.`
    throw new HttpError(405, message, { headers: { Allow: allow } })
  }
  reply.code(204).header('Allow', allow).send()
}

/** The paths in the router's order: literal text before parameters, left to right. */
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

/** A path that answers GET answers HEAD like GET (RFC 9110, section 9.3.2), unless the contract declares HEAD. */
export function methodsOf ({ method, template }: Routed, operations: Routed[]): string[] {
  const hasHead = operations.some(other => other.template === template && other.method === 'HEAD')
  return method !== 'GET' || hasHead ? [method] : ['GET', 'HEAD']
}
