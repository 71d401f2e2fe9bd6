// Takes the bytes of bodies from Fastify, in turns, and validates those that are JSON.
import { isAscii } from 'node:buffer'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import {
  type Compile, escapedKey, type Fault, readJson, removeUndeclared, type Schema, type Schemas
} from '../schema/index.ts'
import type { Body, Operation } from '../types/contract.ts'
import { HttpError, type RequestFault } from '../server/http-error.ts'
import { takeTurns } from '../server/turns.ts'
import { essence, kindOf, mediaTypePattern, ownParameters } from '../message/media-type.ts'

/** Bytes. Parsing takes up to 40 ns for each. */
const parsedPerTurn = 128 * 1024

/**
 * Reads the bodies of the media types that the contract names: as bytes if they are validated
 * whole, by compileBody() or bodyHooks(), and the others as streams.
 */
export function readBodiesAsBytes (app: FastifyInstance, operations: Operation[]): void {
  app.removeAllContentTypeParsers()
  const types = new Set<string>()
  for (const { body } of operations) {
    for (const type of Object.keys(body?.content ?? {})) types.add(essence(type))
  }
  const takeTurn = takeTurns('the parsing of its body', parsedPerTurn)
  for (const type of types) {
    if (!isReadWhole(type)) continue
    // bodyHooks() has checked the parameters.
    const pattern = type.includes('*') ? mediaTypePattern([type], '(?:[ \\t]*;.*)?') : type
    app.addContentTypeParser(pattern, { parseAs: 'buffer' }, (_request, bytes, done) => {
      // Chunks may hold no byte: that is a request without a body.
      if (bytes.length === 0) done(null, undefined)
      else takeTurn(bytes.length, overload => done(overload, bytes))
    })
  }
  // Bodies that are streams come here, because bodyHooks() removes their Content-Type.
  if ([...types].every(isReadWhole)) return
  app.addContentTypeParser('*', (_request, stream, done) => done(null, stream))
}

export function isReadWhole (type: string): boolean {
  return ['json', 'text', 'form'].includes(kindOf(type))
}

/** Fastify's compiler for the body of an operation whose only media type is JSON. */
export function compileBody (
  compile: Compile,
  body: Operation['body'],
  schemas: Schemas
): FastifySchemaCompiler<object> {
  return ({ schema }) => {
    const read = jsonReader(schema, schemas, compile)
    return (bytes: Buffer | null) => {
      if (bytes === null) return body?.required === true ? { error: missingBody(body) } : true
      try {
        return { value: read(bytes) }
      } catch (error) {
        if (error instanceof HttpError) return { error }
        throw error
      }
    }
  }
}

/**
 * Returns a function from JSON, the body or a part of it, to the value for the handler.
 * @throws HttpError that names the member and the rule for each fault
 */
export function jsonReader (
  schema: object,
  schemas: Schemas,
  compile: Compile
): (bytes: Buffer, where?: string) => unknown {
  const validate = compile(schema)
  const toDeclared = removeUndeclared(schema as Schema, schemas)
  return (bytes, where) => {
    const result = readJson(validate, bytes)
    if (result.fault !== undefined) {
      const error = invalidBody(result.faults?.() ?? [result.fault], where)
      if (where === undefined && isCut(bytes, error)) error.message += ` ${lengthInBytes}`
      throw error
    }
    return toDeclared(result.value)
  }
}

const lengthInBytes = 'If it was cut: Content-Length counts bytes, not characters.'

/** Some of the two to four bytes of a character at the end (RFC 3629, section 4). */
const partOfCharacter = /(?:[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})$/

/** Whether a body that has more bytes than characters ends too early. */
function isCut (bytes: Buffer, { message }: HttpError): boolean {
  if (isAscii(bytes)) return false
  const end = bytes.subarray(-3).toString('latin1')
  return partOfCharacter.test(end) || message.includes(' unexpected end ')
}

export function missingBody (body: Body): HttpError {
  const names = namesOf(body).join(' or ')
  // Without one of these fields a request has no body (RFC 9112, section 6.3).
  const lengths = 'with a Content-Length or in chunks'
  return new HttpError(400, `This operation needs a body, sent as ${names}, ${lengths}.`)
}

/** The media types as a request has to name them. */
export function namesOf ({ content }: Body): string[] {
  return Object.keys(content).map(key => {
    if (kindOf(key) === 'multipart') return `${essence(key)} with a boundary`
    return ownParameters(key).length > 0 ? key : essence(key)
  })
}

/** Sentences in an error. */
const maxFaults = 10

/**
 * An error that names the members and the rules.
 * @param where the body or a part of it, in the middle of a sentence
 */
export function invalidBody (faults: Fault[], where = 'the body'): HttpError {
  const start = where.slice(0, 1).toUpperCase() + where.slice(1)
  const found = new Map<string, RequestFault>()
  for (const { path, problem, member } of faults) {
    const message = `${path === '' ? start : `"${path}" in ${where}`} ${problem}.`
    const inner = member === undefined ? '' : `/${escapedKey(member)}`
    found.set(message, { in: 'body', path: (path && `/${path}`) + inner, message })
  }
  const first = [...found.values()].slice(0, maxFaults)
  const sentences = first.map(({ message }) => message)
  if (found.size > maxFaults) sentences.push('There are more faults.')
  return new HttpError(400, sentences.join(' '), { faults: first })
}
