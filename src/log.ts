// The log: JSON lines, readable on a terminal. It never contains header fields, which hold tokens, nor queries, which may.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pino } from 'pino'
import type { Logger } from 'pino'
import { callerOf } from './contract/index.ts'
import type { HttpError } from './contract/index.ts'

/**
 * Creates the log of the process. Fastify does not get it as its own logger: that would cost a twentieth of each request
 * for response listeners and child loggers, and report what logError() reports already.
 * @param output a terminal gets sentences, anything else JSON lines
 */
export function createLog (level: string, output: { isTTY?: boolean }): Logger {
  return pino({ level, ...output.isTTY === true && { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } } })
}

/** A line for each error: at info for a mistake of the caller, at error for one of the service, with its cause. */
export function logError (log: Logger, error: HttpError, request: FastifyRequest): void {
  const { status, message } = error
  if (status < 500) log.info({ ...about(request), status }, message)
  else log.error({ ...about(request), status, err: error.cause ?? error }, message)
}

/** A line for each response, where the level is debug or finer. */
export function logResponses (app: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return
  app.addHook('onResponse', (request, reply, done) => {
    log.debug({ ...about(request), caller: callerOf(request), status: reply.statusCode, ms: reply.elapsedTime }, 'answered')
    done()
  })
}

function about (request: FastifyRequest) {
  return { id: request.id, method: request.method, path: request.url.split('?', 1)[0] }
}
