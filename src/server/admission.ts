// Admits requests ahead of Fastify: a limited number in each turn of the event loop, and none that has waited too long.
// A refusal costs half as much as a plant: requests wait first, and few are refused.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { PausedConnections } from './paused-connections.ts'
import type { OrderedListener } from './pipelining.ts'

export interface AdmissionOptions {
  /** Answers a request that has waited too long. */
  refuse: RequestListener
  /** Paths of health checks, which wait in a queue of their own. */
  urgentPaths: ReadonlySet<string>
  /** Milliseconds that a request may wait. */
  maxWaitMs?: number
}

/** With more requests in progress, garbage collection takes a larger part of the time. */
const requestsPerTurn = 256
/** Milliseconds. Node accepts one connection in a turn: a long turn lets new connections wait. */
const turnMs = 5

interface Exchange { request: IncomingMessage, response: ServerResponse, isPipelined: boolean }
interface Waiting extends Exchange { since: number }

/** A listener that admits requests to `handle`. */
export function admitRequests (
  handle: RequestListener,
  { refuse, urgentPaths, maxWaitMs = 500 }: AdmissionOptions
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
      // Neither a flood of health checks nor one of other requests keeps the other kind waiting.
      const [first, second] = admitted % 2 === 0 ? [urgent, waiting] : [waiting, urgent]
      const next = first.shift() ?? second.shift()
      if (next === undefined) break
      begin(next.since < oldest ? refuse : handle, next)
    }
    paused.resume(requestsPerTurn - waiting.length)
    schedule(admitted > 0 || paused.size > 0)
  }

  const isUrgent = ({ request, isPipelined }: Exchange) => !isPipelined && urgentPaths.has(request.url as string)

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
    // Its connection was not paused: a client that pipelines shall not overtake the others.
    if (isPipelined && isOverloaded()) paused.postpone(() => admit(exchange))
    else admit(exchange)
  }
}
