// The body of a request: which media type may carry it, and whether it is what the contract says.
import type { FastifyInstance, FastifySchemaCompiler, onRequestHookHandler } from 'fastify'
import { ServiceError } from '../errors.ts'
import { parseJson } from './json.ts'
import { countHeader } from './security.ts'
import type { Validate } from './validator.ts'

/** Makes parseJson() the application's only reader of bodies. */
export function readBodiesAsJson (app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    let value
    try {
      value = parseJson(body)
    } catch (error) {
      return done(error as Error)
    }
    return done(null, value)
  })
}

/** Fastify's compiler of request schemas. What it compiles refuses with a sentence that names the member and what was expected. */
export function compileBodies (compile: (schema: object) => Validate): FastifySchemaCompiler<object> {
  return ({ schema }) => {
    const validate = compile(schema)
    return (body: unknown) => {
      const fault = validate(body)
      if (fault === undefined) return true
      const subject = fault.path === '' ? 'The body' : `"${fault.path}" in the body`
      return { error: new ServiceError('invalid', `${subject} ${fault.problem}.`) }
    }
  }
}

/**
 * A hook that admits `application/json`, with or without `charset=utf-8`, in no Content-Encoding, and nothing that merely
 * looks like it: lenient readings of Content-Type have let bodies through unvalidated (CVE-2025-32442 and its kin).
 */
export function refuseMediaType ({ required }: { required: boolean }): onRequestHookHandler {
  return (request, _reply, done) => {
    const { 'content-type': type, 'content-encoding': encoding, 'content-length': length, 'transfer-encoding': transfer } = request.headers
    const empty = transfer === undefined && (length === undefined || length === '0')
    if (type === undefined && empty) {
      return done(required ? new ServiceError('invalid', 'This operation needs a body, sent as application/json.') : undefined)
    }
    if (encoding !== undefined) {
      return done(new ServiceError('unsupported-media-type', 'The body must be sent without a Content-Encoding.'))
    }
    if (type === undefined || !/^application\/json(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?$/i.test(type)) {
      return done(new ServiceError('unsupported-media-type', 'The body must be sent as Content-Type: application/json, in UTF-8.'))
    }
    if (countHeader(request, 'content-type') > 1) {
      return done(new ServiceError('unsupported-media-type', 'Content-Type is sent more than once.'))
    }
    return done()
  }
}
