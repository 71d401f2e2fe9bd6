// Begins a limited number of requests in each turn of the event loop; the others wait.
// A 503 costs half as much as a plant: only requests that have waited too long get one.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { maxWaitMs } from './overload.ts'
import { PausedConnections } from './paused-connections.ts'
import type { OrderedListener } from './pipelining.ts'

export interface AdmissionOptions {
  /** Answers a request that has waited longer than maxWaitMs. */
  answerOverload: RequestListener
  /** Paths of health checks, which have a second queue. */
  urgentPaths: ReadonlySet<string>
}

/** With more requests in progress, garbage collection takes a larger part of the time. */
const requestsPerTurn = 256
/** Milliseconds. Node accepts one connection in a turn: a long turn delays new connections. */
const turnMs = 5

interface Exchange { request: IncomingMessage, response: ServerResponse, isPipelined: boolean }
interface Waiting extends Exchange { since: number }

/** A listener that admits requests to `handle`. */
export function admitRequests (
  handle: RequestListener,
  { answerOverload, urgentPaths }: AdmissionOptions
): OrderedListener {
  const waiting: Waiting[] = []
  const urgent: Waiting[] = []
  const paused = new PausedConnections()
  let isScheduled = false
  let admitted = 0
  let turnEnds = 0
  const isFull = () => admitted >= requestsPerTurn || performance.now() > turnEnds
  const isOverloaded = () => paused.size > 0 || waiting.length >= requestsPerTurn

  function schedule (isNeeded: boolean): void {
    isScheduled = isNeeded
    if (isNeeded) setImmediate(startTurn)
  }

  function startTurn (): void {
    const now = performance.now()
    const oldest = now - maxWaitMs
    turnEnds = now + turnMs
    for (admitted = 0; admitted === 0 || !isFull(); admitted++) {
      // Neither a flood of health checks nor one of other requests delays the other kind.
      const [first, second] = admitted % 2 === 0 ? [urgent, waiting] : [waiting, urgent]
      const next = first.shift() ?? second.shift()
      if (next === undefined) break
      begin(next.since < oldest ? answerOverload : handle, next)
    }
    paused.resume(requestsPerTurn - waiting.length)
    schedule(admitted > 0 || paused.size > 0)
  }

  function isUrgent ({ request, isPipelined }: Exchange): boolean {
    return !isPipelined && urgentPaths.has(request.url as string)
  }

  function begin (listener: RequestListener, exchange: Exchange): void {
    const { request, response, isPipelined } = exchange
    if (isOverloaded() && !isPipelined && !isUrgent(exchange)) {
      response.once('finish', () => isOverloaded() && paused.pause(request))
    }
    listener(request, response as ServerResponse & { req: IncomingMessage })
  }

  function admit (exchange: Exchange): void {
    if (isScheduled && isFull()) {
      const queue = isUrgent(exchange) ? urgent : waiting
      queue.push({ ...exchange, since: performance.now() })
      return
    }
    if (!isScheduled) {
      schedule(true)
      turnEnds = performance.now() + turnMs
    }
    admitted++
    begin(handle, exchange)
  }

  return (request, response, isPipelined) => {
    const exchange = { request, response, isPipelined }
    // Its connection was not paused: a client that pipelines must not overtake the others.
    if (isPipelined && isOverloaded()) paused.postpone(() => admit(exchange))
    else admit(exchange)
  }
}
