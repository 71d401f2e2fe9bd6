// CORS_ORIGIN: lets pages of some origins call the service from a browser (Fetch Standard, section
// 3.2). @fastify/cors would answer every OPTIONS; here a preflight gets the answer of its path, or
// its error.
import type { FastifyInstance } from 'fastify'

/** Fields of responses that a page may read, beside those that every page may. */
const exposed = 'X-Request-Id, Retry-After, WWW-Authenticate, ' +
  'ratelimit-limit, ratelimit-remaining, ratelimit-reset'
/** Seconds for which a browser keeps the answer to a preflight. */
const maxAge = '600'

/** Allows all methods and header fields: the service checks them as if a program had sent them. */
export function allowOrigins (app: FastifyInstance, origins: readonly string[]): void {
  app.addHook('onRequest', ({ method, headers }, reply, done) => {
    reply.header('Vary', 'Origin')
    const { origin = '', 'access-control-request-method': wantedMethod } = headers
    if (!origins.includes(origin)) return done()
    reply.header('Access-Control-Allow-Origin', origin)
    reply.header('Access-Control-Expose-Headers', exposed)
    if (method === 'OPTIONS' && wantedMethod !== undefined) {
      const fields = headers['access-control-request-headers']
      reply.header('Access-Control-Allow-Methods', wantedMethod)
      reply.header('Access-Control-Max-Age', maxAge)
      if (fields !== undefined) reply.header('Access-Control-Allow-Headers', fields)
      reply.header('Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers')
    }
    done()
  })
}
