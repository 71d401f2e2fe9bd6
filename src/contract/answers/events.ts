// Writes server-sent events (WHATWG HTML, section 9.2), by the schema of the contract.
import type { FastifyReply } from 'fastify'
import type { Readable } from 'node:stream'
import {
  composedSchemas, isString, parseText, referenced, type Schema, type Schemas, writeUnchecked
} from '../schema/index.ts'
import type { Media } from '../types/contract.ts'
import { loneSurrogate, type WriteBody, type WriterOptions } from './body-writers.ts'
import { isAsyncIterable, streamOf } from './streams.ts'

interface Event { event?: unknown, id?: unknown, retry?: unknown, data?: unknown }

export function eventsWriter ({ schema }: Media, options: WriterOptions): WriteBody {
  const { report, reportAnswer, logFault } = options
  const writeData = dataWriter(schema as Schema | undefined, options)
  return (body, reply) => {
    if (!isAsyncIterable(body)) {
      reportAnswer('with a body that is not an async iterable of events', reply)
      return writeUnchecked(body)
    }
    reply.header('Cache-Control', 'no-cache')
    const stream = streamOf(body, {
      write (event) {
        try {
          const text = eventText(event as Event, writeData(event as Event))
          if (!text.isWellFormed()) throw loneSurrogate()
          return text
        } catch (error) {
          report(error as Error, reply)
          const { data, ...fields } = asEvent(event)
          return eventText(fields, typeof data === 'string' ? data : writeUnchecked(data))
        }
      },
      // Sends the header before the first event: the client then knows that it is connected.
      begin: () => reply.raw.flushHeaders(),
      onLateError: error => logFault(error as Error, reply.request)
    })
    endWithClient(stream, reply)
    return stream
  }
}

/** A value without `data` is the data of an event. */
function asEvent (yielded: unknown): Event {
  const isEvent = typeof yielded === 'object' && yielded !== null && 'data' in yielded
  return isEvent ? yielded : { data: yielded }
}

/** Returns a function that writes the data of a valid event, or throws. */
function dataWriter (schema: Schema | undefined, { schemas, writerOf }: WriterOptions) {
  const write = writerOf(schema ?? {})
  if (schema !== undefined && describesEvent(schema, schemas)) {
    return (event: Event): string | undefined => {
      const { data } = parseText(write(event), keepNumber) as Event
      return typeof data === 'string' || data === undefined ? data : JSON.stringify(data)
    }
  }
  const mayBeText = schema === undefined || isString(schema, schemas)
  return ({ data }: Event): string => {
    const json = write(data)
    return mayBeText && typeof data === 'string' ? data : json
  }
}

/** A number keeps all its digits. */
function keepNumber (_name: string, value: unknown, context?: { source: string }): unknown {
  const isNumber = typeof value === 'number' && context !== undefined
  return isNumber ? JSON.rawJSON(context.source) : value
}

/**
 * Whether a schema describes the events, as itemSchema of OpenAPI 3.2 does, and not their data:
 * each of its forms declares `data`, and nothing but fields of events. The type EventOf of
 * types/body.ts has the same rule.
 */
export function describesEvent (schema: Schema, schemas: Schemas): boolean {
  const pending = new Set([schema])
  for (const form of pending) {
    const target = referenced(schemas, form)
    const inner = target === undefined ? form.oneOf ?? form.anyOf : [target]
    if (inner === undefined && !isFormOfEvent(form, schemas)) return false
    for (const next of inner as Schema[] | undefined ?? []) pending.add(next)
  }
  return true
}

const fieldNames = ['event', 'id', 'retry', 'data']

function isFormOfEvent (form: Schema, schemas: Schemas): boolean {
  const names: string[] = []
  for (const { properties = {}, additionalProperties = false } of composedSchemas(form, schemas)) {
    if (additionalProperties !== false) return false
    names.push(...Object.keys(properties as object))
  }
  return names.includes('data') && names.every(name => fieldNames.includes(name))
}

/**
 * Closes the connection when the client closes its side. The server allows that, because a
 * response may be on its way; but a client of events is gone, and only the next event would show
 * it.
 */
function endWithClient (stream: Readable, { raw, request }: FastifyReply): void {
  const { socket } = request.raw
  const end = () => raw.destroy()
  socket.once('end', end)
  stream.once('close', () => socket.off('end', end))
}

/**
 * @param data may have several lines; without it the event only sets the other fields
 * @throws Error when a client would read a field differently
 */
function eventText ({ event, id, retry }: Event, data: string | undefined): string {
  let text = fieldText('event', event) + fieldText('id', id) + retryText(retry)
  for (const line of data?.split(/\r\n|\r|\n/) ?? []) text += `data: ${line}\n`
  return `${text}\n`
}

function fieldText (name: string, value: unknown): string {
  if (value === undefined) return ''
  const text = isExact(value) ? String(value) : value
  if (typeof text !== 'string') {
    throw new Error(`the field ${name} of an event must be a string or an exact number`)
  }
  if (/[\r\n\0]/.test(text)) {
    throw new Error(`the field ${name} of an event must have one line, without U+0000`)
  }
  return `${name}: ${text}\n`
}

/** A schema of whole events may have numbers; a double rounds integers of more digits. */
function isExact (value: unknown): boolean {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return true
  return Number.isFinite(value) && !Number.isInteger(value)
}

/** Milliseconds (section 9.2.6: only digits). */
function retryText (value: unknown): string {
  if (value === undefined) return ''
  const digits = typeof value === 'string' ? '' : String(value)
  if (/^\d{1,15}$/.test(digits)) return `retry: ${digits}\n`
  throw new Error('the field retry of an event must be a whole number of milliseconds')
}
