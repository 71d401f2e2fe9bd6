// The log: JSON lines, or sentences on a terminal. It never contains header fields or queries: they may hold tokens.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pino } from 'pino'
import type { Logger } from 'pino'
import { callerOf } from './contract/index.ts'
import type { HttpError } from './contract/index.ts'

/**
 * Creates the log of the process. As Fastify's logger it would cost 5 % of each request and log errors twice.
 * @param output a terminal gets sentences, anything else JSON lines
 */
export function createLog (level: string, output: { isTTY?: boolean }): Logger {
  const pretty = { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } }
  return pino({ level, ...output.isTTY === true && pretty })
}

/** Logs 4xx at info, and 5xx at error with their cause. */
export function logError (log: Logger, error: HttpError, request: FastifyRequest): void {
  const { status, message } = error
  if (status < 500) log.info({ ...about(request), status }, message)
  else log.error({ ...about(request), status, err: error.cause ?? error }, message)
}

/** Logs every response at debug. */
export function logResponses (app: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status, elapsedTime: ms } = reply
    log.debug({ ...about(request), caller: callerOf(request), status, ms }, 'response sent')
    done()
  })
}

function about (request: FastifyRequest) {
  return { id: request.id, method: request.method, path: request.url.split('?', 1)[0] }
}
