// The way out: a handler's answer, in time, and only with a status, header fields and a body that the contract declares.
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { validateHeaderValue } from 'node:http'
import { asServiceError, internal, ServiceError } from '../../errors.ts'
import type { Parsed } from '../schema/json.ts'
import type { Routed } from './paths.ts'
import type { Principals, Response } from '../types.ts'
import type { Compile } from '../schema/validator.ts'

/** A handler as it is called, whatever its operation. */
export type AnyHandler = (request: object) => Promise<Answer> | Answer
interface Answer { readonly status: number, readonly headers?: Readonly<Record<string, unknown>>, readonly body?: unknown }

declare module 'fastify' {
  interface FastifyRequest {
    /** By place, once they are read. */
    parameters: Readonly<Record<string, object>>
    principals: Principals
  }
}

/**
 * Makes a handler a Fastify handler.
 * @param within milliseconds to answer in; past them the caller gets 503, and what the handler says later is dropped
 */
export function answerWith (handler: AnyHandler, operation: Routed, compile: Compile, within: number): RouteHandlerMethod {
  const declared = declaredAnswers(operation, compile)
  return async ({ parameters, principals, body }: FastifyRequest, reply: FastifyReply) => {
    const timer = setTimeout(() => reply.send(late()), within)
    try {
      const answer = await handler({ ...parameters, principals: principals ?? {}, body: (body as Parsed | null | undefined)?.[''] })
      if (!reply.sent) send(answer, declared(answer), reply)
    } catch (error) {
      if (!reply.sent) reply.send(asServiceError(error))
    } finally {
      clearTimeout(timer)
    }
    return reply
  }
}

function late (): ServiceError {
  return new ServiceError('unavailable', 'The service could not answer in time. It may have done what was asked; asking again is safe.')
}

const none: Record<string, never> = {}

interface DeclaredAnswer { key: string, contentType: string | undefined, writeHeaders: (headers: Readonly<Record<string, unknown>>) => Record<string, string | string[]> }

function send ({ status, headers = none, body }: Answer, { key, contentType, writeHeaders }: DeclaredAnswer, reply: FastifyReply): void {
  // All that may fail comes before the first change of the reply.
  const fields = writeHeaders(headers)
  const text = contentType && reply.getSerializationFunction(key)?.(body as Record<string, unknown>)
  if (contentType !== undefined) reply.header('Content-Type', contentType)
  reply.code(status).headers(fields).send(text)
}

/** Finds what the contract declares of an answer: by its status, else by range, else `default` (OpenAPI 3.1, section 4.8.16). */
function declaredAnswers ({ id, responses }: Routed, compile: Compile): (answer: Answer) => DeclaredAnswer {
  const declared = new Map(Object.entries(responses).map(([key, response]) => [responseKey(key), toDeclared(id, key, response, compile)]))
  return ({ status, body }) => {
    const found = declared.get(String(status)) ?? declared.get(`${String(status)[0]}xx`) ?? declared.get('default')
    const hasBody = body !== undefined
    if (found === undefined || !Number.isInteger(status) || status < 200 || status > 599) throw internal(new Error(`${id} answered ${status}, which the contract does not declare`))
    if (!hasBody && found.contentType !== undefined && ![204, 205, 304].includes(status)) throw internal(new Error(`${id} answered ${status} without its body`))
    if (hasBody && (found.contentType === undefined || [204, 205, 304].includes(status))) throw internal(new Error(`${id} answered ${status} with a body, which the contract does not declare`))
    return found
  }
}

/** A key of `responses` as Fastify spells it. */
export function responseKey (key: string): string {
  return key.toLowerCase()
}

function toDeclared (id: string, key: string, { type, headers = {} }: Response, compile: Compile): DeclaredAnswer {
  const fields = Object.entries(headers).map(([name, { required, schema }]) => ({ name, required, validate: compile(schema) }))
  return {
    key: responseKey(key),
    contentType: type && `${type}; charset=utf-8`,
    writeHeaders (given) {
      if (given === none && fields.every(({ required }) => !required)) return none
      const undeclared = Object.keys(given).find(name => !(name in headers))
      if (undeclared !== undefined) throw internal(new Error(`${id} answered with the header field ${undeclared}, which the contract does not declare`))
      return Object.fromEntries(fields.flatMap(({ name, required, validate }) => {
        if ((given[name] ?? undefined) === undefined && !required) return []
        const { fault } = validate(given, name)
        if (fault !== undefined) throw internal(new Error(`${id} answered with a header field ${name} that ${fault.problem}`))
        return [[name, fieldValue(name, given[name])]]
      }))
    }
  }
}

/** Style simple (OpenAPI 3.1, section 4.8.21.2): the items of a list, separated by commas; but Set-Cookie takes a line for each (RFC 9110, section 5.3). */
function fieldValue (name: string, value: unknown): string | string[] {
  const texts = [value].flat().map(String)
  for (const text of texts) validateHeaderValue(name, text)
  return name.toLowerCase() === 'set-cookie' ? texts : texts.join(', ')
}
