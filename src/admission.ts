// Admits requests ahead of Fastify: a limited number in each turn of the event loop, and none that has waited too long.
// A refusal costs half as much as a plant: requests wait first, and few are refused.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
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

interface Waiting { request: IncomingMessage, response: ServerResponse, since: number }

/** A listener that admits requests to `handle`. */
export function admitRequests (
  handle: RequestListener,
  { refuse, urgentPaths, maxWaitMs = 500 }: AdmissionOptions
): OrderedListener {
  const waiting: Waiting[] = []
  const urgent: Waiting[] = []
  let admitted = 0
  let turnEnds = 0
  const isFull = () => admitted >= requestsPerTurn || performance.now() > turnEnds

  function startTurn (): void {
    const now = performance.now()
    const oldest = now - maxWaitMs
    turnEnds = now + turnMs
    for (admitted = 0; admitted === 0 || !isFull(); admitted++) {
      // Neither a flood of health checks nor one of other requests keeps the other kind waiting.
      const [first, second] = admitted % 2 === 0 ? [urgent, waiting] : [waiting, urgent]
      const next = first.shift() ?? second.shift()
      if (next === undefined) break
      const listener = next.since < oldest ? refuse : handle
      listener(next.request, next.response as ServerResponse & { req: IncomingMessage })
    }
    if (admitted > 0) setImmediate(startTurn)
  }

  return (request, response, isPipelined) => {
    if (admitted > 0 && isFull()) {
      const isUrgent = !isPipelined && urgentPaths.has(request.url as string)
      const queue = isUrgent ? urgent : waiting
      queue.push({ request, response, since: performance.now() })
      return
    }
    if (admitted === 0) {
      setImmediate(startTurn)
      turnEnds = performance.now() + turnMs
    }
    admitted++
    handle(request, response)
  }
}
