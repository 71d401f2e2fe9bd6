// The log: JSON lines, or sentences on a terminal. It never contains header fields or queries: they may hold tokens.
import type { FastifyInstance } from 'fastify'
import { inspect } from 'node:util'
import { pino, stdSerializers } from 'pino'
import type { Logger } from 'pino'
import { callerOf, rawPath, traceIds } from '../contract/index.ts'
import type { FailedRequest, SentError } from '../contract/index.ts'
import type { LogOutput } from './log-output.ts'

/** Creates the log of the process. As Fastify's logger it would cost 5 % of each request and log errors twice. */
export function createLog (level: string, output: LogOutput): Logger {
  return pino({
    level,
    formatters: { log: boundFields },
    serializers: { msg: bound, err: errorFields }
  }, output)
}

/** A terminal gets sentences, anything else JSON lines. Loading pino-pretty takes 40 ms. */
export async function readable (output: LogOutput, isTTY: boolean): Promise<LogOutput> {
  if (!isTTY) return output
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({ ignore: 'pid,hostname' })
  return { write: line => output.write(pretty(line)) }
}

/** Logs 4xx, 501 and 505, which the client causes, at info, and other 5xx at error with their cause. */
export function logError (log: Logger, error: SentError, request: FailedRequest): void {
  const { status, message, cause } = error
  if (status < 500 || status === 501 || status === 505) log.info({ ...about(request), status }, message)
  // The stack of a refusal says nothing, and a flood of them must be cheap.
  else if (status === 503 && cause === undefined) log.error({ ...about(request), status }, message)
  else log.error({ ...about(request), status, err: cause ?? error }, message)
}

/** Logs a fault of an answer that its caller is not told. */
export function logFault (log: Logger, fault: Error, request: FailedRequest): void {
  log.error({ ...about(request), err: fault }, 'the answer breaks the contract, or it broke off')
}

/** Counts events of a flood: it reports the first at once, and then at most once a minute how many there were. */
export function oncePerMinute (report: (count: number) => void): () => void {
  let count = 0
  let lastReport = -Infinity
  return () => {
    count++
    if (performance.now() - lastReport < 60_000) return
    report(count)
    lastReport = performance.now()
    count = 0
  }
}

/** Logs every response at debug. */
export function logResponses (app: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status, elapsedTime } = reply
    log.debug({ ...about(request), status, ms: Number(elapsedTime.toFixed(3)) }, 'response sent')
    done()
  })
}

function about (request: FailedRequest) {
  const { id, ip: address, method, url, headers = {} } = request
  return { id, ...traceIds(headers), caller: callerOf(request), address, method, path: url && rawPath({ url }) }
}

/** Bytes of a field, in UTF-8. */
const maxField = 1024
const field = new Uint8Array(maxField)
const encoder = new TextEncoder()

/** Characters that could forge a line, or move the cursor of a terminal. */
const control = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const controlInStack = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const shortAscii = /^[ -~]{0,1024}$/

/** Errors stay as they are for errorFields(). */
function boundFields (fields: object): Record<string, unknown> {
  const bounded: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) bounded[name] = value instanceof Error ? value : bound(value)
  return bounded
}

/** The name, the messages and the stacks of an error and its causes, and its other members such as `code`. */
function errorFields (error: unknown): unknown {
  if (!(error instanceof Error)) return error
  // PostgreSQL's detail may quote a row.
  const { detail, ...fields } = stdSerializers.err(error)
  return { ...boundFields(fields), stack: bound(fields.stack, controlInStack) }
}

/** Caps a value at 1 KiB and escapes control characters: a caller has a say in paths, messages and names. */
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
