// The body of a request: which media type may carry it, and whether it is what the contract says.
import type { FastifyInstance, FastifySchemaCompiler, onRequestHookHandler } from 'fastify'
import { ServiceError } from '../../errors.ts'
import { parseJson } from '../schema/json.ts'
import type { Parsed } from '../schema/json.ts'
import { countHeader } from './security.ts'
import type { Operation } from '../types.ts'
import { putIntegers } from '../schema/validator.ts'
import type { Compile, Validate } from '../schema/validator.ts'

/** Makes parseJson() the application's only reader of bodies, for the media types that the contract names. */
export function readBodiesAsJson (app: FastifyInstance, operations: Operation[]): void {
  app.removeAllContentTypeParsers()
  const types = new Set(operations.flatMap(({ body }) => body?.types ?? []))
  if (types.size === 0) return
  app.addContentTypeParser([...types], { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
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
export function compileBodies (compile: Compile): FastifySchemaCompiler<object> {
  return ({ schema }) => {
    const validate = compile(schema)
    // An operation may do without a body where refuseMediaType() lets it.
    return (body: Parsed | null | undefined) => {
      if (!body) return true
      const { fault, findings } = validateShallow(validate, body)
      if (fault !== undefined) {
        const subject = fault.path === '' ? 'The body' : `"${fault.path}" in the body`
        return { error: new ServiceError('invalid', `${subject} ${fault.problem}.`) }
      }
      putIntegers(findings)
      return true
    }
  }
}

/** Schemas that contain themselves are as deep as the body. */
function validateShallow (validate: Validate, body: Parsed): ReturnType<Validate> {
  try {
    return validate(body, '')
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { fault: { path: '', problem: 'is nested too deeply' }, findings: [] }
  }
}

/**
 * A hook that admits an operation's media types, with or without `charset=utf-8`, in no Content-Encoding, and nothing that
 * merely looks like them: lenient readings of Content-Type have let bodies through unvalidated (CVE-2025-32442 and its kin).
 */
export function refuseMediaType (body: Operation['body']): onRequestHookHandler {
  const types = body?.types ?? []
  const accepted = new RegExp(`^(?:${types.map(type => RegExp.escape(type)).join('|')})(?:[ \\t]*;[ \\t]*charset=(?:utf-8|"utf-8"))?$`, 'i')
  const named = types.join(' or ')
  return (request, _reply, done) => {
    const { 'content-type': type, 'content-encoding': encoding, 'content-length': length, 'transfer-encoding': transfer } = request.headers
    if (transfer === undefined && (length === undefined || Number(length) === 0)) {
      // There is nothing to parse, whatever it is said to be.
      delete request.headers['content-type']
      return done(body?.required === true ? new ServiceError('invalid', `This operation needs a body, sent as ${named}.`) : undefined)
    }
    if (body === undefined) {
      return done(new ServiceError('unsupported-media-type', 'This operation takes no body.'))
    }
    if (encoding !== undefined) {
      return done(new ServiceError('unsupported-media-type', 'The body must be sent without a Content-Encoding.'))
    }
    if (type === undefined || !accepted.test(type)) {
      return done(new ServiceError('unsupported-media-type', `The body must be sent as Content-Type: ${named}, in UTF-8.`))
    }
    if (countHeader(request, 'content-type') > 1) {
      return done(new ServiceError('unsupported-media-type', 'Content-Type is sent more than once.'))
    }
    return done()
  }
}
