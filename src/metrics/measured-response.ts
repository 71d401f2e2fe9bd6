// Measures every response of the server, also those that Fastify does not send.
import type { FastifyInstance, RouteOptions } from 'fastify'
import { ServerResponse } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Recorder } from './recorder.ts'

const routeOf = Symbol('the index of its route')

/** A class of responses that tell the recorder how long they took. */
export function measuredResponse<Request extends IncomingMessage> (recorder: Recorder): typeof ServerResponse<Request> {
  return class extends ServerResponse<Request> {
    [routeOf] = 0
    readonly #began = performance.now()

    override end (...parameters: unknown[]): this {
      if (!this.writableEnded) {
        recorder.responded(this[routeOf], this.req.method as string, this.statusCode, performance.now() - this.#began)
      }
      return super.end(...parameters as [])
    }
  } as typeof ServerResponse<Request>
}

/** Tells each response its route. Call it before the routes are added. @param indexOf the index of a Fastify route */
export function labelRoutes (app: FastifyInstance, indexOf: (url: string) => number): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    const index = indexOf(route.url)
    route.onRequest = [(_request, reply, done) => {
      Object.assign(reply.raw, { [routeOf]: index })
      done()
    }, ...[route.onRequest ?? []].flat()]
  })
}
