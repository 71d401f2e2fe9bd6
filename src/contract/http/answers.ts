// Turns a handler's answer into a response: enforces the timeout and the contract.
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { validateHeaderValue } from 'node:http'
import type { Compile, Validate } from '../schema/index.ts'
import { bodilessStatuses } from '../types.ts'
import type { Response } from '../types.ts'
import { asHttpError, HttpError, internalError } from './http-error.ts'
import { essence } from './media-type.ts'
import type { RoutedOperation } from './paths.ts'

/** A handler of any operation. */
export type AnyHandler = (request: object) => Promise<AnyAnswer> | AnyAnswer
export interface AnyAnswer { readonly status: number, readonly headers?: HeaderValues, readonly body?: unknown }
type HeaderValues = Readonly<Record<string, unknown>>

export interface AnswerOptions {
  compile: Compile
  /** Time limit. Then the caller gets 503, and a late answer is dropped. */
  responseTimeoutMs: number
  /** Maps a handler's error to an HttpError; undefined means 500. */
  toHttpError: (thrown: unknown) => HttpError | undefined
  /** Gets each answer of a handler with a status of 400 and more. */
  onErrorAnswer?: (answer: AnyAnswer, request: FastifyRequest) => void
}

/** Wraps a handler as a Fastify route handler. */
export function toRouteHandler (
  handler: AnyHandler,
  operation: RoutedOperation,
  options: AnswerOptions
): RouteHandlerMethod {
  const findDeclared = declaredAnswers(operation, options.compile)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters, principals = {}, body } = request
    const timer = setTimeout(() => reply.send(new HttpError(503, lateMessage)), options.responseTimeoutMs)
    try {
      const answer = await handler({ ...parameters, principals, body })
      if (!reply.sent) send(answer, findDeclared(answer), reply)
      if (answer.status >= 400) options.onErrorAnswer?.(answer, request)
    } catch (error) {
      if (!reply.sent) reply.send(options.toHttpError(error) ?? asHttpError(error))
    } finally {
      clearTimeout(timer)
    }
    return reply
  }
}

const lateMessage = 'The service did not respond in time. The request may have taken effect.'

/** An answer that the contract declares: its key as Fastify spells it, its media type and a check of its headers. */
interface DeclaredAnswer {
  key: string
  contentType: string | undefined
  writeHeaders: (headers: HeaderValues) => Record<string, string | string[]>
}

const noHeaders: Record<string, never> = {}

function send ({ status, headers = noHeaders, body }: AnyAnswer, declared: DeclaredAnswer, reply: FastifyReply): void {
  // Run everything that may throw before the first change of the reply.
  const fields = declared.writeHeaders(headers)
  const text = declared.contentType && reply.getSerializationFunction(declared.key)?.(body as Record<string, unknown>)
  if (declared.contentType !== undefined) reply.header('Content-Type', declared.contentType)
  reply.code(status).headers(fields).send(text)
}

/** Finds the declaration by status, else by range, else `default` (OpenAPI 3.1, section 4.8.16). */
function declaredAnswers ({ id, responses }: RoutedOperation, compile: Compile): (answer: AnyAnswer) => DeclaredAnswer {
  const answers = Object.entries(responses).map(([key, response]) => toDeclared(id, key, response, compile))
  const declared = new Map(answers.map(answer => [answer.key, answer]))
  return ({ status, body }) => {
    const found = declared.get(String(status)) ?? declared.get(`${String(status)[0]}xx`) ?? declared.get('default')
    const isStatus = Number.isInteger(status) && status >= 200 && status <= 599
    if (found === undefined || !isStatus) throw undeclared(`${id} answered ${status}`)
    const mayHaveBody = found.contentType !== undefined && !isBodiless(status)
    if (body === undefined && mayHaveBody) throw contractError(`${id} answered ${status} without its body`)
    if (body !== undefined && !mayHaveBody) throw undeclared(`${id} answered ${status} with a body`)
    return found
  }
}

function isBodiless (status: number): boolean {
  return (bodilessStatuses as readonly number[]).includes(status)
}

function contractError (sentence: string): HttpError {
  return internalError(new Error(sentence))
}

function undeclared (sentence: string): HttpError {
  return contractError(`${sentence}, which the contract does not declare`)
}

/** A key of `responses` as Fastify spells it. */
export function responseKey (key: string): string {
  return key.toLowerCase()
}

function toDeclared (id: string, key: string, response: Response, compile: Compile): DeclaredAnswer {
  const { content = {}, headers = {} } = response
  const [type] = Object.keys(content).map(essence)
  const fields = Object.entries(headers).map(([name, { required, schema }]): HeaderField => {
    return { name, required, validate: compile(schema) }
  })
  const isOptional = fields.every(({ required }) => !required)
  return {
    key: responseKey(key),
    contentType: type && `${type}; charset=utf-8`,
    writeHeaders (given) {
      if (given === noHeaders && isOptional) return noHeaders
      const extra = Object.keys(given).find(name => !(name in headers))
      if (extra !== undefined) throw undeclared(`${id} answered with the header field ${extra}`)
      return Object.fromEntries(fields.flatMap(field => writeField(id, field, given[field.name] ?? undefined)))
    }
  }
}

interface HeaderField { name: string, required: boolean, validate: Validate }

function writeField (id: string, { name, required, validate }: HeaderField, value: unknown) {
  if (value === undefined && !required) return []
  const { fault } = validate({ value })
  if (fault !== undefined) throw contractError(`${id} answered with a header field ${name} that ${fault.problem}`)
  return [[name, fieldValue(name, value)] as const]
}

/** Joins items with commas; Set-Cookie gets one line per item (RFC 9110, section 5.3). */
function fieldValue (name: string, value: unknown): string | string[] {
  const texts = [value].flat().map(String)
  for (const text of texts) validateHeaderValue(name, text)
  return name.toLowerCase() === 'set-cookie' ? texts : texts.join(', ')
}
