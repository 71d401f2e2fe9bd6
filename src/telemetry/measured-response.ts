// Measures every response of the server, also those that Fastify does not send.
import type { FastifyInstance, RouteOptions } from 'fastify'
import { ServerResponse } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Recorder } from './recorder.ts'

type End = ServerResponse['end']

/** What labelRoutes() adds to a response: the index of its route, or 0. */
interface Labelled { route?: number }

/** A class of responses that tell the recorder how long they took. */
export function measuredResponse<Request extends IncomingMessage> (recorder: Recorder): typeof ServerResponse<Request> {
  return class extends ServerResponse<Request> implements Labelled {
    route = 0
    readonly began = performance.now()

    override end (chunk?: unknown, encoding?: unknown, callback?: unknown): this {
      if (!this.writableEnded) {
        recorder.responded(this.route, this.req.method as string, this.statusCode, performance.now() - this.began)
      }
      return super.end(chunk, encoding as Parameters<End>[1], callback as Parameters<End>[2])
    }
  } as typeof ServerResponse<Request>
}

/** Tells each response its route. Call it before the routes are added. @param indexOf the index of a Fastify route */
export function labelRoutes (app: FastifyInstance, indexOf: (url: string) => number): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    const index = indexOf(route.url)
    route.onRequest = [(_request, reply, done) => {
      (reply.raw as Labelled).route = index
      done()
    }, ...[route.onRequest ?? []].flat()]
  })
}
