// Joins the log of errors with the limits of its lines.
import type { FastifyRequest } from 'fastify'
import type { ErrorReporter } from 'fastify-openapi-contract'
import { Overload } from 'fastify-openapi-contract/server'
import type { Logger } from 'pino'
import { limitLines } from '../limits/log-lines.ts'
import { errorBody } from '../plants/error-body.ts'
import { QueueFull } from '../plants/plant-store.ts'
import type { Recorder } from '../telemetry/metrics-recorder.ts'
import { oncePerMinute } from '../telemetry/once-per-minute.ts'
import { logError, logFault } from '../telemetry/request-log.ts'
import { NotReady } from './health.ts'
import type { SharedMemory } from './shared-memory.ts'

export interface ErrorLog extends ErrorReporter {
  /** Logs a fault of an answer that the response does not show. */
  logFault: (fault: Error, request: FastifyRequest) => void
  /** Writes the summaries that are due. */
  close: () => void
}

/**
 * @param perMinute lines for each network without accepted credentials: FAILED_AUTH_LIMIT
 * @param recorder counts the requests that overload refuses
 */
export function createErrorLog (
  log: Logger,
  perMinute: number,
  { lines, totals }: Pick<SharedMemory, 'lines' | 'totals'>,
  recorder?: Recorder
): ErrorLog {
  const limit = limitLines({ perMinute, lines, totals, log })
  // A flood of them must be cheap.
  const overloads = oncePerMinute<string>((count, reason) => {
    log.warn(`Requests refused because of overload: ${count}. The last one ${reason}.`)
  })
  return {
    errorBody,
    log (error, request) {
      if (error instanceof NotReady) return
      // The store has counted it.
      if (error.cause instanceof QueueFull) return overloads.add(error.cause.message)
      if (error instanceof Overload) {
        recorder?.count('overload')
        return overloads.add(error.reason)
      }
      const detail = limit.detailOf(error, request)
      if (detail !== 'none') logError(log, error, request, detail)
    },
    logFault (cause, request) {
      const error = { status: 500, message: 'A broken answer was sent.', cause }
      const detail = limit.detailOf(error, request)
      if (detail !== 'none') logFault(log, cause, request, detail)
    },
    close () {
      limit.close()
      overloads.close()
    }
  }
}
