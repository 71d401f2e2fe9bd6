// What a Fastify app needs when it is created: the hardened server, and its errors in the shape of
// the contract, which the app gets later.
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { RequestListener, Server } from 'node:http'
import { plainShape } from './errors/error-shape.ts'
import { errorOptions } from './message/fastify-errors.ts'
import { routerOptions } from './message/paths.ts'
import type { ErrorReporter } from './server/error-reporter.ts'
import { createHttpServer, type ServerOptions } from './server/http-server.ts'

/** Fastify's options for an app that serves contracts. */
export interface ContractServerOptions extends FastifyServerOptions {
  serverFactory: (handle: RequestListener, options?: { https?: unknown }) => Server
}

/** Gives the errors of a server their shape and their log, once. */
const reporterSetters = new WeakMap<Server, (reporter: ErrorReporter) => void>()

/**
 * Options for `fastify()`: Node's server with limits of time, of memory and of connections, long
 * path parameters, and errors before routing in the shape of the app's first contract.
 * @param options other limits than the defaults of server/http-server.ts, and `reporter` for
 *   another shape and log of these errors
 */
export function serverOptions (options: Partial<ServerOptions> = {}): ContractServerOptions {
  let { reporter: current } = options
  const reporter: ErrorReporter = {
    errorBody: (...error) => (current ?? plainShape).errorBody(...error),
    log: (error, request) => current?.log(error, request),
    get contentType () { return current?.contentType }
  }
  return {
    ...errorOptions(reporter),
    routerOptions,
    // close() of the server ends idle connections.
    forceCloseConnections: false,
    serverFactory (handle, { https } = {}) {
      if (https) {
        throw new Error('serverOptions() makes a server without TLS: put a proxy before it, or ' +
          'leave out its serverFactory and with it the limits of the server.')
      }
      const server = createHttpServer(handle, { ...options, reporter })
      reporterSetters.set(server, given => { current ??= given })
      return server
    }
  }
}

/** Gives the server of an app the errors of a contract. */
export function shareReporter (
  { server, initialConfig: { routerOptions: routing = {} } }: FastifyInstance,
  reporter: ErrorReporter,
  warn: (sentence: string) => void
): void {
  const setReporter = reporterSetters.get(server)
  // Fastify shows the options of an app that sets none as undefined.
  const { maxParamLength: longest = 100 } = routing
  if (setReporter !== undefined) {
    setReporter(reporter)
    if (longest >= routerOptions.maxParamLength) return
    return warn('The routerOptions of the app replace those of serverOptions(): a path parameter ' +
      `of more than ${longest} characters gets 414. Set maxParamLength in them.`)
  }
  warn('The app was created without fastify(serverOptions()). Bytes that are not HTTP, overload ' +
    'and slow clients get other errors than the contract\'s, or none; connections are unlimited; ' +
    'a path parameter of more than ' +
    `${longest} characters gets 414; a request keeps its X-Request-Id only if the app sets ` +
    'requestIdHeader.')
}
