// The log: JSON lines, or sentences on a terminal. It never contains header fields or queries: they
// may hold tokens.
import type { FastifyInstance } from 'fastify'
import type { IncomingHttpHeaders } from 'node:http'
import { inspect } from 'node:util'
import { type Logger, pino, stdSerializers } from 'pino'
import { callerOf, rawPath } from '../contract/index.ts'
import type { FailedRequest, SentError } from '../server/error-reporter.ts'
import type { LogOutput } from './log-output.ts'

/**
 * Creates the log of the process. As Fastify's logger it would cost 5 % of each request and log
 * errors twice.
 */
export function createLog (level: string, output: LogOutput): Logger {
  return pino({
    level,
    formatters: { log: boundFields },
    serializers: { msg: bound, err: errorFields }
  }, output)
}

/** A terminal gets sentences, anything else JSON lines. Loading pino-pretty takes 40 ms. */
export async function makeReadable (output: LogOutput, isTTY: boolean): Promise<LogOutput> {
  if (!isTTY) return output
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({ ignore: 'pid,hostname' })
  return { write: line => output.write(pretty(line)) }
}

/** `short`: without the stack, which another line has. */
export type Detail = 'full' | 'short'

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

/** Logs every response at debug. */
export function logResponses (app: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status, elapsedTime } = reply
    const fields = { ...fieldsOf(request), status, ms: Number(elapsedTime.toFixed(3)) }
    log.debug(fields, 'response sent')
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

/** Bytes of a field, in UTF-8. */
const maxField = 1024
const field = new Uint8Array(maxField)
const encoder = new TextEncoder()

/** Characters that could forge a line, or move the cursor of a terminal. */
const control = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const controlInStack = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const shortAscii = /^[ -~]{0,1024}$/

/** An error whose stack another line has. */
class Short {
  readonly error: Error
  constructor (error: Error) {
    this.error = error
  }
}

function withDetail (error: unknown, detail: Detail): unknown {
  return detail === 'short' && error instanceof Error ? new Short(error) : error
}

/** Leaves errors to errorFields(). */
function boundFields (fields: object): Record<string, unknown> {
  const bounded: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    const isError = value instanceof Error || value instanceof Short
    bounded[name] = isError ? value : bound(value)
  }
  return bounded
}

/** The name of an error, its messages and stacks with its causes, and members such as `code`. */
function errorFields (error: unknown): unknown {
  if (error instanceof Short) {
    const { type, message, code } = stdSerializers.err(error.error)
    return boundFields({ type, message, code })
  }
  if (!(error instanceof Error)) return error
  // PostgreSQL's detail may quote a row.
  const { detail, ...fields } = stdSerializers.err(error)
  return { ...boundFields(fields), stack: bound(fields.stack, controlInStack) }
}

/** Caps a value at 1 KiB and escapes control characters: callers send paths and names. */
function bound (value: unknown, unsafe = control): unknown {
  if (value === null || (typeof value !== 'string' && typeof value !== 'object')) return value
  // Almost every value is a short text in ASCII: test() is the fastest check.
  if (typeof value === 'string' && shortAscii.test(value)) return value
  const text = typeof value === 'string' ? value : inspect(value, { breakLength: Infinity })
  const start = text.slice(0, maxField + 1).replace(unsafe, visible)
  const { read } = encoder.encodeInto(start, field)
  return read === start.length ? start : `${start.slice(0, read)}... (${text.length} characters)`
}

function visible (character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`
}
