// The log: JSON lines, or sentences on a terminal. It never contains header fields or queries: they
// may hold tokens.
import type { WriteStream } from 'node:tty'
import { inspect } from 'node:util'
import { type Logger, pino, stdSerializers } from 'pino'
import type { MessageFormatFunc } from 'pino-pretty'
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

type Terminal = Pick<Partial<WriteStream>, 'isTTY' | 'hasColors'>

/** A terminal gets sentences, anything else JSON lines. Loading pino-pretty takes 40 ms. */
export async function makeReadable (output: LogOutput, terminal: Terminal): Promise<LogOutput> {
  if (terminal.isTTY !== true) return output
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({
    // Node reads NO_COLOR, too.
    colorize: terminal.hasColors?.() === true,
    ignore: 'pid,hostname,id,trace_id,span_id,caller,address,method,path,status,ms',
    // Or pino-pretty has no label for `level`.
    useOnlyCustomProps: false,
    customPrettifiers: {
      level: (_level, _key, _line, { label, labelColorized }) => {
        return ' '.repeat(5 - label.length) + labelColorized
      }
    },
    messageFormat: describeLine
  })
  return { write: line => output.write(pretty(line)) }
}

interface ResponseLine { status?: number, method?: string, path?: string, ms?: number, msg: string }

/** A sentence; for the line of a response its status and request before it. */
const describeLine: MessageFormatFunc = (line, _key, _label, { colors }) => {
  const { status, method = '', path = '', ms, msg } = line as unknown as ResponseLine
  if (status === undefined) return msg
  const paint = status < 400 ? colors.green : colors.yellow
  const end = ms === undefined ? msg : `${ms} ms`
  return `${paint(status)} ${method.padEnd(4)} ${path.padEnd(12)} ${end}`
}

/** Bytes of a field, in UTF-8. */
const maxField = 1024
const field = new Uint8Array(maxField)
const encoder = new TextEncoder()

/** Characters that could forge a line, or move the cursor of a terminal. */
const control = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const controlInStack = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const shortAscii = /^[ -~]{0,1024}$/

/** `short`: without the stack, which another line has. */
export type Detail = 'full' | 'short'

/** An error whose stack another line has. */
class Short {
  readonly error: Error
  constructor (error: Error) {
    this.error = error
  }
}

/** An error for the field `err` of a line. */
export function withDetail (error: unknown, detail: Detail): unknown {
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
    const { type, message, code } = serializeError(error.error)
    return boundFields({ type, message, code })
  }
  if (!(error instanceof Error)) return error
  // PostgreSQL's detail may quote a row.
  const { detail, ...fields } = serializeError(error)
  return { ...boundFields(fields), stack: bound(fields.stack, controlInStack) }
}

/** Its message has those of its causes, unless an error quotes its own. */
function serializeError (error: Error): ReturnType<typeof stdSerializers.err> {
  const chain = new Set<Error>()
  for (let next: unknown = error; next instanceof Error && !chain.has(next); next = next.cause) {
    chain.add(next)
  }
  const messages = [...chain].map(({ message }) => message)
  const unquoted = messages.filter((message, index) => !messages[index - 1]?.includes(message))
  // A sentence is continued by its cause.
  const message = unquoted.join(': ').replaceAll('.: ', ': ')
  return { ...stdSerializers.err(error), message }
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
