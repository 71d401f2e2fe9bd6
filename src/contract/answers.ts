// The way out: a handler's answer, in time, checked against the contract, and only what the contract declares of it.
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { internal, ServiceError } from '../errors.ts'
import type { Operation, Principal } from './types.ts'
import type { Validate } from './validator.ts'

/** A handler as it is called, whatever its operation. */
export type AnyHandler = (request: { body: unknown, principal: Principal | undefined }) => Promise<Answer> | Answer
interface Answer { readonly status: unknown, readonly body?: unknown }

/**
 * Makes a handler a Fastify handler.
 * @param within milliseconds to answer in; past them the caller gets 503, and what the handler says later is dropped
 */
export function answerWith (handler: AnyHandler, check: (answer: Answer) => void, within: number): RouteHandlerMethod {
  return async ({ body, principal }: FastifyRequest, reply: FastifyReply) => {
    const timer = setTimeout(() => reply.send(late()), within)
    try {
      const answer = await handler({ body, principal })
      check(answer)
      if (!reply.sent) reply.code(answer.status as number).send(answer.body)
    } catch (error) {
      if (!reply.sent) reply.send(error)
    } finally {
      clearTimeout(timer)
    }
    return reply
  }
}

function late (): ServiceError {
  return new ServiceError('unavailable', 'The service could not answer in time. It may have done what was asked; asking again is safe.')
}

/**
 * A check that lets pass only what the contract declares for the operation: the serializer drops undeclared members, but
 * sends undeclared statuses and makes up or trips over missing members.
 */
export function guard (id: string, { responses }: Operation, compile: (schema: object) => Validate): (answer: Answer) => void {
  const validators = new Map(Object.entries(responses).map(([status, { schema }]) => [Number(status), schema && compile(schema)]))
  return ({ status, body }) => {
    const validate = validators.get(status as number)
    if (validate === undefined && (body !== undefined || !validators.has(status as number))) {
      throw internal(new Error(`${id} answered ${status}${body === undefined ? '' : ' with a body'}, which the contract does not declare`))
    }
    const fault = validate?.(body)
    if (fault !== undefined) throw internal(new Error(`${id} answered ${status}, whose body${fault.path && ` at ${fault.path}`} ${fault.problem}`))
  }
}
