// The body of a request: the media types that it may have, its parser and its validation.
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler, onRequestHookHandler } from 'fastify'
import { readJson, removeUndeclared } from '../schema/index.ts'
import type { Compile, Fault, Schema, Schemas } from '../schema/index.ts'
import type { Body, Operation } from '../types.ts'
import { HttpError } from './http-error.ts'
import { takeTurns } from './body-turns.ts'
import { essence } from './media-type.ts'

/** Reads the bodies of the media types that the contract names, and no others, as bytes for compileBody(). */
export function readBodiesAsBytes (app: FastifyInstance, operations: Operation[]): void {
  app.removeAllContentTypeParsers()
  const types = new Set(operations.flatMap(({ body }) => typesOf(body)))
  if (types.size === 0) return
  const takeTurn = takeTurns()
  app.addContentTypeParser([...types], { parseAs: 'buffer' }, (_request, bytes, done) => {
    // Chunks may hold no byte: that is a request without a body.
    if (bytes.length === 0) done(null, undefined)
    else takeTurn(bytes.length, overload => done(overload, bytes))
  })
}

/** Fastify's compiler for the body of an operation. The error for an invalid body names the member and the rule. */
export function compileBody (
  compile: Compile,
  body: Operation['body'],
  schemas: Schemas
): FastifySchemaCompiler<object> {
  return ({ schema }) => {
    const validate = compile(schema)
    const toDeclared = removeUndeclared(schema as Schema, schemas)
    return (bytes: Buffer | null) => {
      if (bytes === null) return body?.required === true ? { error: missingBody(body) } : true
      const result = readJson(validate, bytes)
      if (result.fault === undefined) return { value: toDeclared(result.value) }
      return { error: invalidBody(result.faults?.() ?? [result.fault]) }
    }
  }
}

function typesOf (body: Body | undefined): string[] {
  return Object.keys(body?.content ?? {}).map(essence)
}

function missingBody (body: Body): HttpError {
  return new HttpError(400, `This operation needs a body, sent as ${typesOf(body).join(' or ')}.`)
}

/** Sentences in an error. */
const maxFaults = 10

function invalidBody (faults: Fault[]): HttpError {
  const sentences = new Set(faults.map(({ path, problem }) => {
    return `${path === '' ? 'The body' : `"${path}" in the body`} ${problem}.`
  }))
  const first = [...sentences].slice(0, maxFaults)
  return new HttpError(400, [...first, ...sentences.size > maxFaults ? ['There are more faults.'] : []].join(' '))
}

/**
 * A hook that admits an operation's media types, with or without `charset=utf-8`, and no Content-Encoding. It compares
 * strictly: lenient readings of Content-Type have let bodies pass without validation (CVE-2025-32442 and others).
 */
export function refuseMediaType (body: Operation['body']): onRequestHookHandler {
  const types = typesOf(body)
  const accepted = mediaTypePattern(types)
  const named = types.join(' or ')
  return (request, _reply, done) => {
    const { 'content-type': type, 'content-encoding': encoding } = request.headers
    if (!hasBody(request)) {
      // Without a body its media type does not matter.
      delete request.headers['content-type']
      return body?.required === true ? done(missingBody(body)) : done()
    }
    if (body === undefined) return done(new HttpError(415, 'This operation accepts no body.'))
    if (encoding !== undefined) return done(new HttpError(415, 'The body must be sent without a Content-Encoding.'))
    if (type === undefined || !accepted.test(type)) {
      return done(new HttpError(415, `The body must be sent as Content-Type: ${named}, in UTF-8.`))
    }
    const isRepeated = request.repeatedHeaders.has('content-type')
    return done(isRepeated ? new HttpError(415, 'Content-Type is sent more than once.') : undefined)
  }
}

function mediaTypePattern (types: readonly string[]): RegExp {
  const names = types.map(type => RegExp.escape(type)).join('|')
  return new RegExp(`^(?:${names})(?:[ \\t]*;[ \\t]*charset=(?:utf-8|"utf-8"))?$`, 'i')
}

function hasBody ({ headers }: FastifyRequest): boolean {
  const { 'content-length': length = 0, 'transfer-encoding': transfer } = headers
  return transfer !== undefined || Number(length) !== 0
}
