// What the log says of a request, and how: JSON lines, readable on a terminal. Never a token, nor a query, which may hold one.
import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify'

/** Logger options: JSON lines for programs, sentences for a person at a terminal. */
export function logOptions (level: string, output: { isTTY?: boolean }): NonNullable<FastifyServerOptions['logger']> {
  return output.isTTY === true ? { level, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } } : { level }
}

/** A line for each answer, where the level is debug or finer. */
export function logAnswers (app: FastifyInstance): void {
  if (!['debug', 'trace'].includes(app.log.level)) return
  app.addHook('onResponse', (request, reply, done) => {
    app.log.debug({ ...about(request), caller: request.principal?.name, status: reply.statusCode, ms: reply.elapsedTime }, 'answered')
    done()
  })
}

/** The request in a log line. */
export function about (request: FastifyRequest) {
  return { id: request.id, method: request.method, path: request.url.split('?', 1)[0] }
}
