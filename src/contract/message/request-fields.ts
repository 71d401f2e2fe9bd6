// The fields that hooks add to Fastify's requests, such as who is calling.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { HttpError } from '../server/http-error.ts'
import type { Principals } from '../types/handler.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What a handler gets: parameters by place, the body's contentType, and `accept`. */
    parameters?: Readonly<Record<string, unknown>>
    /** Who is calling, once the operation's hooks have authenticated the request. */
    principals?: Principals
    /** Refusals of the security schemes so far. */
    refusals?: HttpError[]
  }
}

export function decorateRequests (app: FastifyInstance): void {
  for (const field of ['parameters', 'principals', 'refusals']) app.decorateRequest(field)
}

export function refusalsOf (request: FastifyRequest): HttpError[] {
  request.refusals ??= []
  return request.refusals
}

/** A request of Fastify, or one that has not reached it and is anonymous. */
interface AnyRequest { readonly ip: string, readonly principals?: Principals }

/** The identities of the callers, one for each security scheme; undefined if it is anonymous. */
export function identityOf ({ principals = {} }: AnyRequest): string | undefined {
  const callers = Object.values(principals)
  const [first, ...others] = callers.map(caller => caller?.id ?? caller?.name)
  return others.length === 0 ? first : [first, ...others].join('\n')
}

/** The names of the callers, one for each security scheme; undefined for an anonymous caller. */
export function callerOf ({ principals = {} }: AnyRequest): string | undefined {
  return Object.values(principals).map(caller => caller?.name).join(' ') || undefined
}
