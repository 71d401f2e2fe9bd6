// The lines of the log about a request.
import type { FastifyInstance } from 'fastify'
import { callerOf, type FailedRequest, rawPath, type SentError } from 'fastify-openapi-contract'
import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import { type Detail, withDetail } from './log.ts'

/** Logs 4xx, 501 and 505, which the client causes, at info; other 5xx at error with their cause. */
export function logError (
  log: Logger,
  error: SentError,
  request: FailedRequest,
  detail: Detail = 'full'
): void {
  const { status, message, cause } = error
  const fields = { ...fieldsOf(request), status }
  if (status < 500 || status === 501 || status === 505) log.info(fields, message)
  // Its stack says nothing, and a flood of them must be cheap.
  else if (status === 503 && cause === undefined) log.error(fields, message)
  else log.error({ ...fields, err: withDetail(cause ?? error, detail) }, message)
}

/** Logs a fault of an answer that the response does not show. */
export function logFault (
  log: Logger,
  fault: Error,
  request: FailedRequest,
  detail: Detail = 'full'
): void {
  const fields = { ...fieldsOf(request), err: withDetail(fault, detail) }
  log.error(fields, 'the answer breaks the contract, or it broke off')
}

/** Logs every response at debug. On a terminal, those without a line of logError() at info. */
export function logResponses (app: FastifyInstance, log: Logger, onTerminal: boolean): void {
  const isDebug = log.isLevelEnabled('debug')
  if (!isDebug && !onTerminal) return
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status, elapsedTime } = reply
    const fields = { ...fieldsOf(request), status, ms: Number(elapsedTime.toFixed(3)) }
    if (isDebug) log.debug(fields, 'response sent')
    else if (status < 400) log.info(fields, 'response sent')
    done()
  })
}

function fieldsOf (request: FailedRequest) {
  const { id, ip: address, method, url, headers = {} } = request
  const path = url && rawPath({ url })
  return { id, ...traceIds(headers), caller: callerOf(request), address, method, path }
}

const traceparentPattern =
  /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:$|(?<!^00.*)-)/

/**
 * The ids of `traceparent` (W3C Trace Context, section 3.2), under the names that OpenTelemetry
 * gives them in logs.
 */
export function traceIds (
  { traceparent }: IncomingHttpHeaders
): { trace_id?: string, span_id?: string } {
  const [, trace, span] = traceparentPattern.exec(String(traceparent)) ?? []
  return trace === undefined || span === undefined ? {} : { trace_id: trace, span_id: span }
}
