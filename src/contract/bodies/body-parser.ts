// The body of a request: the media types that it may have, its parser and its validation.
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler, onRequestHookHandler } from 'fastify'
import { readJson, removeUndeclared } from '../schema/index.ts'
import type { Compile, Fault, Schema, Schemas } from '../schema/index.ts'
import type { Body, Operation } from '../types.ts'
import { HttpError } from '../../server/http-error.ts'
import { takeTurns } from './body-turns.ts'
import { essence, kindOf, mediaTypeFinder, mediaTypePattern, ownParameters } from '../message/media-type.ts'

/**
 * Reads the bodies of the media types that the contract names, and no others: those that are validated as a whole as
 * bytes, for compileBody() and readMedia(), the others as they arrive.
 */
export function readBodiesAsBytes (app: FastifyInstance, operations: Operation[]): void {
  app.removeAllContentTypeParsers()
  const types = new Set(operations.flatMap(({ body }) => typesOf(body)))
  const whole = [...types].filter(isReadWhole)
  const takeTurn = takeTurns()
  const readWhole = (type: string | RegExp) => {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, bytes, done) => {
      // Chunks may hold no byte: that is a request without a body.
      if (bytes.length === 0) done(null, undefined)
      else takeTurn(bytes.length, overload => done(overload, bytes))
    })
  }
  // refuseMediaType() has checked the parameters.
  for (const type of whole) readWhole(type.includes('*') ? mediaTypePattern([type], '(?:[ \\t]*;.*)?') : type)
  // Readers of streams come here by removing Content-Type.
  if (whole.length < types.size) app.addContentTypeParser('*', (_request, stream, done) => done(null, stream))
}

export function isReadWhole (type: string): boolean {
  return ['json', 'text', 'form'].includes(kindOf(type))
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

export function typesOf (body: Body | undefined): string[] {
  return Object.keys(body?.content ?? {}).map(essence)
}

export function missingBody (body: Body): HttpError {
  return new HttpError(400, `This operation needs a body, sent as ${namesOf(body).join(' or ')}.`)
}

/** The media types as a request has to name them. */
function namesOf (body: Body | undefined): string[] {
  return Object.keys(body?.content ?? {}).map(key => ownParameters(key).length > 0 ? key : essence(key))
}

/** Sentences in an error. */
const maxFaults = 10

export function invalidBody (faults: Fault[]): HttpError {
  const sentences = new Set(faults.map(({ path, problem }) => {
    return `${path === '' ? 'The body' : `"${path}" in the body`} ${problem}.`
  }))
  const first = [...sentences].slice(0, maxFaults)
  return new HttpError(400, [...first, ...sentences.size > maxFaults ? ['There are more faults.'] : []].join(' '))
}

/** A hook that admits an operation's media types, with or without `charset=utf-8`, and no Content-Encoding. */
export function refuseMediaType (body: Operation['body']): onRequestHookHandler {
  const find = mediaTypeFinder(Object.keys(body?.content ?? {}))
  const names = namesOf(body)
  const named = `${names.join(' or ')}${names.every(isReadWhole) ? ', in UTF-8' : ''}`
  return (request, _reply, done) => {
    const { 'content-type': type, 'content-encoding': encoding } = request.headers
    if (!hasBody(request) && !isEmptyBody(request, find)) {
      // Without a body its media type does not matter.
      delete request.headers['content-type']
      return body?.required === true ? done(missingBody(body)) : done()
    }
    if (body === undefined) return done(new HttpError(415, 'This operation accepts no body.'))
    if (encoding !== undefined) return done(new HttpError(415, 'The body must be sent without a Content-Encoding.'))
    if (type === undefined || find(type) === undefined) {
      return done(new HttpError(415, `The body must be sent as Content-Type: ${named}.`))
    }
    const isRepeated = request.repeatedHeaders.has('content-type')
    return done(isRepeated ? new HttpError(415, 'Content-Type is sent more than once.') : undefined)
  }
}

function hasBody ({ headers }: FastifyRequest): boolean {
  const { 'content-length': length = 0, 'transfer-encoding': transfer } = headers
  return transfer !== undefined || Number(length) !== 0
}

/** `Content-Length: 0` with a media type that admits no bytes, like chunks without a byte. */
function isEmptyBody ({ headers }: FastifyRequest, find: (sent: string) => string | undefined): boolean {
  const { 'content-length': length, 'content-type': sent = '' } = headers
  const type = length === undefined ? undefined : find(sent)
  return type !== undefined && mayBeEmpty(type)
}

/** Whether no bytes are a body of the media type: an empty text or stream. */
export function mayBeEmpty (type: string): boolean {
  return ['text', 'bytes', 'events'].includes(kindOf(type))
}
