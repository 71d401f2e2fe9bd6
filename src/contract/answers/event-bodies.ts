// Writes answers of server-sent events by the schema of the contract.
import type { FastifyReply } from 'fastify'
import type { Readable } from 'node:stream'
import { composedSchemas, isString, parseText, referenced, writeUnchecked } from '../schema/index.ts'
import type { Schema, Schemas } from '../schema/index.ts'
import type { Media } from '../types.ts'
import type { BodyOptions, WriteBody } from './body-writers.ts'
import { eventStream, eventText, isAsyncIterable, loneSurrogate } from './events.ts'
import type { EventFields } from './events.ts'

interface Event extends EventFields { data?: unknown }

export function eventsWriter (id: string, { schema }: Media, options: BodyOptions): WriteBody {
  const { report, logFault } = options
  const toText = dataWriter(schema as Schema | undefined, options)
  return (body, reply) => {
    if (!isAsyncIterable(body)) {
      report(new Error(`${id} answered with a body that is not an async iterable of events`), reply)
      return writeUnchecked(body)
    }
    reply.header('Cache-Control', 'no-cache')
    const stream = eventStream(body, {
      write (event) {
        try {
          const text = eventText(event as Event, toText(event as Event))
          if (!text.isWellFormed()) throw loneSurrogate()
          return text
        } catch (error) {
          report(error as Error, reply)
          const { data, ...fields } = asEvent(event)
          return eventText(fields, typeof data === 'string' ? data : writeUnchecked(data))
        }
      },
      // Sent before the first event, so that the client knows that it is connected.
      begin: () => reply.raw.flushHeaders(),
      onLateError: error => logFault(error as Error, reply)
    })
    endWithClient(stream, reply)
    return stream
  }
}

/** What has no data is the data of an event. */
function asEvent (yielded: unknown): Event {
  return typeof yielded === 'object' && yielded !== null && 'data' in yielded ? yielded : { data: yielded }
}

/** Returns a function that writes the data of a valid event, or throws. */
function dataWriter (
  schema: Schema | undefined,
  { schemas, writerOf }: BodyOptions
): (event: Event) => string | undefined {
  const write = writerOf(schema ?? {})
  if (schema !== undefined && describesEvent(schema, schemas)) {
    return event => {
      const { data } = parseText(write(event), keepNumber) as Event
      return typeof data === 'string' || data === undefined ? data : JSON.stringify(data)
    }
  }
  const mayBeText = schema === undefined || isString(schema, schemas)
  return ({ data }) => {
    const json = write(data)
    return mayBeText && typeof data === 'string' ? data : json
  }
}

/** A number keeps all its digits. */
function keepNumber (_name: string, value: unknown, context?: { source: string }): unknown {
  return typeof value === 'number' && context !== undefined ? JSON.rawJSON(context.source) : value
}

const fieldNames = ['event', 'id', 'retry', 'data']

/**
 * Whether a schema describes the events, as itemSchema of OpenAPI 3.2 does, and not their data: each of its forms
 * declares `data`, and nothing but fields of events. The type EventOf of bodies.ts has the same rule.
 */
export function describesEvent (schema: Schema, schemas: Schemas): boolean {
  return formsOf(schema, schemas).every(form => {
    const parts = [...composedSchemas(form, schemas)]
    const names = parts.flatMap(({ properties = {} }) => Object.keys(properties as object))
    const isClosed = parts.every(({ additionalProperties = false }) => additionalProperties === false)
    return isClosed && names.includes('data') && names.every(name => fieldNames.includes(name))
  })
}

/** The schemas of which a value meets one. */
function formsOf (schema: Schema, schemas: Schemas): Schema[] {
  const target = referenced(schemas, schema)
  if (target !== undefined) return formsOf(target, schemas)
  const forms = schema.oneOf ?? schema.anyOf
  return forms === undefined ? [schema] : (forms as Schema[]).flatMap(form => formsOf(form, schemas))
}

/**
 * The server lets a client close its side of a connection, because a response may be on its way. To a stream of events
 * it says that the client is gone; without this only the next event would show it.
 */
function endWithClient (stream: Readable, { raw, request }: FastifyReply): void {
  const { socket } = request.raw
  const end = () => raw.destroy()
  socket.once('end', end)
  stream.once('close', () => socket.off('end', end))
}
