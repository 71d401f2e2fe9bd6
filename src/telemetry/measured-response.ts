// Measures every response of the server, also those that Fastify does not send.
import type { FastifyInstance, RouteOptions } from 'fastify'
import { type Answerable, ServerResponse } from 'fastify-openapi-contract/server'
import type http from 'node:http'
import type { Recorder } from './metrics-recorder.ts'

type End = http.ServerResponse['end']

/** The index of the route, which labelRoutes() sets, or 0. */
interface Labelled { route?: number }

/** A class of responses that measure the time until they end. */
export function measuredResponse<Request extends http.IncomingMessage> (
  recorder: Recorder
): typeof ServerResponse<Request> {
  return class extends ServerResponse<Request> implements Labelled, Answerable {
    route = 0
    readonly began = performance.now()
    isMeasured = false

    answered (status: number): void {
      if (this.isMeasured) return
      this.isMeasured = true
      const ms = performance.now() - this.began
      recorder.responded(this.route, this.req.method as string, status, ms)
    }

    override end (chunk?: unknown, encoding?: unknown, callback?: unknown): this {
      this.answered(this.statusCode)
      return super.end(chunk, encoding as Parameters<End>[1], callback as Parameters<End>[2])
    }
  } as typeof ServerResponse<Request>
}

/**
 * Labels each response with its route. Call it before the routes are added.
 * @param indexOf the index of a Fastify route, from 1
 */
export function labelRoutes (app: FastifyInstance, indexOf: (url: string) => number): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    const index = indexOf(route.url)
    route.onRequest = [(_request, reply, done) => {
      (reply.raw as Labelled).route = index
      done()
    }, ...[route.onRequest ?? []].flat()]
  })
}
