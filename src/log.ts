// What the log says, and how: JSON lines, readable on a terminal. Never a header field, which holds the token, nor a query,
// which may hold one.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pino } from 'pino'
import type { Logger } from 'pino'

/**
 * Makes the log of the process. Fastify is not given it as its own logger: it would listen to every response and make
 * a child logger for every request, a twentieth of what a request costs, to say what our error handler says already.
 * @param output where it ends up: a terminal gets sentences, anything else JSON lines
 */
export function createLog (level: string, output: { isTTY?: boolean }): Logger {
  return pino({ level, ...output.isTTY === true && { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } } })
}

/** A line for each answer, where the level is debug or finer. */
export function logAnswers (app: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return
  app.addHook('onResponse', (request, reply, done) => {
    log.debug({ ...about(request), caller: callerOf(request), status: reply.statusCode, ms: reply.elapsedTime }, 'answered')
    done()
  })
}

/** The name of whoever is calling, of several schemes all their names; the address where nobody was asked for one. */
export function callerOf ({ principals, ip }: FastifyRequest): string {
  return Object.values(principals ?? {}).map(principal => principal?.name).join(' ') || ip
}

/** The request in a log line. */
export function about (request: FastifyRequest) {
  return { id: request.id, method: request.method, path: request.url.split('?', 1)[0] }
}
