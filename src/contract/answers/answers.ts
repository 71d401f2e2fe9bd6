// Turns a handler's answer into a response: enforces the timeout and the contract.
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { Readable } from 'node:stream'
import { asHttpError, HttpError } from '../server/http-error.ts'
import type { RoutedOperation } from '../message/paths.ts'
import { isThenable } from '../message/thenable.ts'
import type { AnswerSchemas } from './body-writers.ts'
import { answerWriter, type AnyAnswer } from './response-writer.ts'
import { discard, sendStream } from './streams.ts'

/** A handler of any operation. */
export type AnyHandler = (request: object) => Promise<AnyAnswer> | AnyAnswer

export interface AnswerOptions {
  /**
   * Time limit of a handler. Then the caller gets 503, and a late answer is dropped. The time
   * starts again as long as bytes of the request arrive, which the server limits by its
   * `requestTimeout`. By default 10,000.
   */
  responseTimeoutMs: number
  /** The message of that 503. It may say whether the caller can safely send the request again. */
  lateMessage: string
  /** Maps an error of a handler or a hook to an HttpError; undefined means 500, as by default. */
  toHttpError: (thrown: unknown) => HttpError | undefined
  /** Gets each answer of a handler with a status of 400 and more. */
  onErrorAnswer?: (answer: AnyAnswer, request: FastifyRequest) => void
  /**
   * `log`: an answer that breaks the contract goes to logFault(), and is sent as it is. By default
   * it becomes 500.
   */
  answers?: 'enforce' | 'log'
  /** Logs a fault that the response does not show, such as a stream that breaks off. */
  logFault: (fault: Error, request: FastifyRequest) => void
}

/** Wraps a handler as a Fastify route handler. */
export function toRouteHandler (
  handler: AnyHandler,
  operation: RoutedOperation,
  options: AnswerOptions & AnswerSchemas
): RouteHandlerMethod {
  const send = answerSender(operation, options)

  function respond (answer: AnyAnswer, request: FastifyRequest, reply: FastifyReply): void {
    if (answer === undefined || answer === null) {
      throw new Error(`The handler ${operation.id} returned nothing.`)
    }
    if (isThenable(answer.body)) {
      throw new Error(`The body of the handler ${operation.id} is a promise: await it.`)
    }
    send(answer, reply)
    if (answer.status >= 400) options.onErrorAnswer?.(answer, request)
  }

  function fail (error: unknown, reply: FastifyReply): void {
    if (!reply.sent) reply.send(options.toHttpError(error) ?? asHttpError(error))
  }

  async function respondLater (
    answer: PromiseLike<AnyAnswer>,
    request: FastifyRequest,
    reply: FastifyReply
  ): Promise<FastifyReply> {
    const timer = answerAfter(options, request, reply)
    try {
      respond(await answer, request, reply)
    } catch (error) {
      fail(error, reply)
    } finally {
      clearTimeout(timer)
    }
    return reply
  }

  return (request, reply) => {
    const { parameters, principals = {}, body } = request
    try {
      const answer = handler({ ...parameters, principals, body })
      // An answer that is here needs no timer, no promise and no further tick.
      if (isThenable(answer)) return respondLater(answer, request, reply)
      respond(answer, request, reply)
    } catch (error) {
      fail(error, reply)
    }
    return undefined
  }
}

function answerAfter (
  { responseTimeoutMs, lateMessage }: AnswerOptions,
  { raw }: FastifyRequest,
  reply: FastifyReply
): NodeJS.Timeout {
  let received = raw.complete ? 0 : raw.socket.bytesRead
  const timer = setTimeout(() => {
    const { complete, socket } = raw
    if (!complete && socket.bytesRead > received) timer.refresh()
    else {
      const cause = new Error(`no response of the handler within ${responseTimeoutMs} ms`)
      reply.send(new HttpError(503, lateMessage, { cause }))
    }
    received = socket.bytesRead
  }, responseTimeoutMs)
  return timer
}

function answerSender (
  operation: RoutedOperation,
  options: AnswerOptions & AnswerSchemas
): (answer: AnyAnswer, reply: FastifyReply) => void {
  const { answers, logFault } = options
  const logOf = (reply: FastifyReply) => (fault: Error) => logFault(fault, reply.request)
  const report = (breach: Error, reply: FastifyReply): void => {
    if (answers !== 'log') throw breach
    logFault(breach, reply.request)
  }
  const write = answerWriter(operation, {
    ...options,
    report,
    reportAnswer (problem, reply) {
      report(new Error(`${operation.id} answered ${problem}`), reply)
    }
  })
  return (answer, reply) => {
    // The caller got 503 already.
    if (reply.sent) return discard(answer.body, logOf(reply))
    try {
      // Run everything that may throw before the first change of the reply.
      const { contentType, fields, payload } = write(answer, reply)
      if (contentType !== undefined) reply.type(contentType)
      reply.code(answer.status).headers(fields)
      if (payload instanceof Readable) sendStream(payload, reply, logOf(reply))
      else reply.send(payload)
    } catch (error) {
      discard(answer.body, logOf(reply))
      throw error
    }
  }
}
