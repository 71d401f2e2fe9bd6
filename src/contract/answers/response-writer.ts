// The answers that the contract declares for an operation: checks a handler's answer, and writes its fields and body.
import type { FastifyReply } from 'fastify'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import { writeUnchecked } from '../schema/index.ts'
import { bodilessStatuses, framingFields } from '../types.ts'
import type { Response } from '../types.ts'
import { bodyWriter } from './body-writers.ts'
import type { BodyOptions, Payload, WriteBody } from './body-writers.ts'
import { headerTexts } from './header-fields.ts'
import { isInRange, isRange, kindOf, sentType } from '../message/media-type.ts'
import type { RoutedOperation } from '../message/paths.ts'

export interface AnyAnswer {
  readonly status: number
  readonly headers?: HeaderValues
  readonly contentType?: string
  readonly body?: unknown
}
type HeaderValues = Readonly<Record<string, unknown>>

/** An answer as it is sent. */
export interface Written {
  contentType: string | undefined
  fields: Record<string, string | string[]>
  payload: Payload
}

type WriteAnswer = (answer: AnyAnswer, reply: FastifyReply) => Written

/** Finds the declaration by status, else by range, else `default` (OpenAPI 3.1, section 4.8.16). */
export function declaredAnswers ({ id, responses }: RoutedOperation, options: BodyOptions): WriteAnswer {
  const answers = Object.entries(responses).map(([key, response]) => declaredAnswer(id, key, response, options))
  const declared = new Map(answers)
  return (answer, reply) => {
    const { status } = answer
    const found = declared.get(String(status)) ?? declared.get(`${String(status)[0]}xx`) ?? declared.get('default')
    const isStatus = Number.isInteger(status) && status >= 200 && status <= 599
    // After a status of 1XX the client would wait for the response.
    if (!isStatus) throw new Error(`${id} answered ${status}, which is no status of a response`)
    if (found !== undefined) return found(answer, reply)
    options.report(undeclared(`${id} answered ${status}`), reply)
    return writeUndeclared(answer)
  }
}

/** A key of `responses` in lower case, and the writer of its answers. */
function declaredAnswer (id: string, key: string, response: Response, options: BodyOptions): [string, WriteAnswer] {
  const { report } = options
  const writeFields = fieldsWriter(id, response, options)
  const writeBody = contentWriter(id, responseKey(key), response, options)
  const hasContent = Object.keys(response.content ?? {}).length > 0
  return [responseKey(key), (answer, reply) => {
    const { status, headers = noFields, body } = answer
    const fields = writeFields(headers, reply)
    const mayHaveBody = hasContent && !isBodiless(status)
    if (body !== undefined && mayHaveBody) return { fields, ...writeBody(answer, reply) }
    if (body === undefined && mayHaveBody) report(new Error(`${id} answered ${status} without its body`), reply)
    if (body !== undefined) report(undeclared(`${id} answered ${status} with a body`), reply)
    return { fields, ...undeclaredBody(answer) }
  }]
}

/** A key of `responses` as Fastify spells it. */
export function responseKey (key: string): string {
  return key.toLowerCase()
}

function isBodiless (status: number): boolean {
  return (bodilessStatuses as readonly number[]).includes(status)
}

function undeclared (sentence: string): Error {
  return new Error(`${sentence}, which the contract does not declare`)
}

type Body = Pick<Written, 'contentType' | 'payload'>

/** Writes a body by its media type: the only one of the contract, or the one that the answer names. */
function contentWriter (id: string, key: string, { content = {} }: Response, options: BodyOptions) {
  const writers = new Map(Object.entries(content).map(([type, media]) => {
    return [type, bodyWriter({ id, key, type }, media, options)]
  }))
  const [only = ''] = writers.keys()
  if (writers.size === 1 && !isRange(only)) return onlyWriter(id, only, writers.get(only) as WriteBody, options)
  const ranges = [...writers.keys()].filter(isRange).toSorted((one, other) => other.length - one.length)
  return (answer: AnyAnswer, reply: FastifyReply): Body => {
    const { contentType, body } = answer
    if (contentType !== undefined && mediaType.test(contentType)) {
      const range = () => ranges.find(range => isInRange(contentType, range))
      const write = writers.get(contentType) ?? writers.get(range() ?? '')
      if (write !== undefined) return { contentType: sentType(contentType), payload: write(body, reply) }
    }
    const named = contentType === undefined ? 'without naming its media type' : `as ${contentType}`
    options.report(undeclared(`${id} answered ${answer.status} ${named}`), reply)
    return undeclaredBody(answer)
  }
}

/** A media type with its parameters, and not a range (RFC 9110, section 8.3.1). */
const mediaType = /^[\w!#$&^`|~.+-]+\/[\w!#$&^`|~.+-]+(?:[ \t]*;[ -~]*)?$/

function onlyWriter (id: string, type: string, write: WriteBody, { report }: BodyOptions) {
  const contentType = sentType(type)
  return (answer: AnyAnswer, reply: FastifyReply): Body => {
    if (answer.contentType === undefined || answer.contentType === type) {
      return { contentType, payload: write(answer.body, reply) }
    }
    report(undeclared(`${id} answered ${answer.status} as ${answer.contentType}`), reply)
    return undeclaredBody(answer)
  }
}

/** An answer that the contract does not declare, as it is. */
function writeUndeclared (answer: AnyAnswer): Written {
  return { fields: fieldsOf(answer.headers ?? noFields), ...undeclaredBody(answer) }
}

function undeclaredBody ({ contentType, body }: AnyAnswer): Body {
  if (contentType !== undefined) validateHeaderValue('Content-Type', contentType)
  if (body === undefined) return { contentType, payload: undefined }
  if (body instanceof Readable) return { contentType: contentType ?? 'application/octet-stream', payload: body }
  if (body instanceof Uint8Array) {
    return { contentType: contentType ?? 'application/octet-stream', payload: Buffer.from(body) }
  }
  if (typeof body === 'string' && kindOf(contentType ?? '') !== 'json') {
    return { contentType: contentType ?? sentType('text/plain'), payload: Buffer.from(body) }
  }
  return { contentType: contentType ?? sentType('application/json'), payload: writeUnchecked(body) }
}

const noFields: Record<string, never> = {}

function fieldsWriter (id: string, { headers = {} }: Response, { compile, report }: BodyOptions) {
  const fields = Object.entries(headers).map(([name, { required, schema }]) => {
    return { name, required, validate: compile(schema) }
  })
  const isOptional = fields.every(({ required }) => !required)
  return (given: HeaderValues, reply: FastifyReply): Written['fields'] => {
    if (given === noFields && isOptional) return noFields
    const extra = Object.keys(given).find(name => !Object.hasOwn(headers, name))
    if (extra !== undefined) report(undeclared(`${id} answered with the header field ${extra}`), reply)
    const texts = new Map<string, string[]>()
    for (const { name, required, validate } of fields) {
      const value = Object.hasOwn(given, name) ? given[name] ?? undefined : undefined
      if (value === undefined && !required) continue
      const checked = validate({ value })
      if (checked.fault !== undefined) {
        report(new Error(`${id} answered with a header field ${name} that ${checked.fault.problem}`), reply)
      }
      if (value !== undefined) texts.set(name, headerTexts(value, headers[name], checked.fault ? [] : checked.declared))
    }
    return fieldsOf(given, texts)
  }
}

function fieldsOf (given: HeaderValues, texts?: ReadonlyMap<string, string[]>): Written['fields'] {
  const fields = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(fields.map(([name, value]) => {
    return [name, fieldValue(name, texts?.get(name) ?? headerTexts(value))]
  }))
}

/** Joins items with commas; Set-Cookie gets one line per item (RFC 9110, section 5.3). */
function fieldValue (name: string, texts: string[]): string | string[] {
  const lowerCase = name.toLowerCase()
  // A length that the body does not have would make its rest the next response.
  if (isFraming(lowerCase)) throw new Error(`an answer must not have the header field ${name}, which frames it`)
  validateHeaderName(name)
  for (const text of texts) validateHeaderValue(name, text)
  return lowerCase === 'set-cookie' ? texts : texts.join(', ')
}

function isFraming (name: string): boolean {
  return (framingFields as readonly string[]).includes(name)
}
