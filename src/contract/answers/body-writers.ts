// Writes the body of an answer by its media type.
import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { isString, writeUnchecked } from '../schema/index.ts'
import type { Compile, Schema, Schemas, Write } from '../schema/index.ts'
import type { Media } from '../types.ts'
import { eventsWriter } from './event-bodies.ts'
import { endIterator, isAsyncIterable, loneSurrogate } from './events.ts'
import { kindOf } from '../message/media-type.ts'

/** How bodies are checked. */
export interface BodyOptions {
  schemas: Schemas
  compile: Compile
  writerOf: (schema: object) => Write
  /** Gets a breach of the contract. Throws it, or logs it; then the answer is sent as it is. */
  report: (breach: Error, reply: FastifyReply) => void
  /** Logs a fault that no response can tell. */
  logFault: (fault: Error, reply: FastifyReply) => void
}

export type Payload = string | Buffer | Readable | undefined
export type WriteBody = (body: unknown, reply: FastifyReply) => Payload

/** An operation's id, a key of its responses as Fastify spells it, and a media type or range of the response. */
interface Declared { id: string, key: string, type: string }

export function bodyWriter ({ id, key, type }: Declared, media: Media, options: BodyOptions): WriteBody {
  switch (kindOf(type)) {
    case 'json': return jsonWriter(key, type, options)
    case 'text': return textWriter(id, media, options)
    case 'events': return eventsWriter(id, media, options)
    default: return bytesWriter(id, options)
  }
}

/** The route's serializer writes it. */
function jsonWriter (key: string, type: string, { report }: BodyOptions): WriteBody {
  return (body, reply) => {
    try {
      return (reply.getSerializationFunction(key, type) as unknown as Write)(body)
    } catch (error) {
      report(error as Error, reply)
      return asItIs(body)
    }
  }
}

function textWriter (id: string, { schema }: Media, { schemas, compile, report }: BodyOptions): WriteBody {
  // The schema of a text may describe what the text means, such as the rows of a table.
  const validate = compile(schema !== undefined && isString(schema as Schema, schemas) ? schema : { type: 'string' })
  return (body, reply) => {
    const { fault } = validate({ value: body })
    if (fault !== undefined) report(new Error(`${id} answered with a text that ${fault.problem}`), reply)
    if (typeof body !== 'string') return asItIs(body)
    if (!body.isWellFormed()) report(loneSurrogate(), reply)
    return body
  }
}

function bytesWriter (id: string, { report }: BodyOptions): WriteBody {
  return (body, reply) => {
    if (body instanceof Readable) return body
    // Fastify would add a charset to some media types of strings.
    if (typeof body === 'string') {
      if (!body.isWellFormed()) report(loneSurrogate(), reply)
      return Buffer.from(body)
    }
    if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    report(new Error(`${id} answered with a body that is not a string, a Uint8Array or a Readable`), reply)
    return writeUnchecked(body)
  }
}

/** A body that its media type does not have: a stream stays one. */
function asItIs (body: unknown): Payload {
  return body instanceof Readable ? body : writeUnchecked(body)
}

/** Releases what a handler answered and nobody gets. */
export function discard (body: unknown, onError: (error: Error) => void): void {
  if (body instanceof Readable) body.on('error', onError).destroy()
  else if (isAsyncIterable(body)) endIterator(body[Symbol.asyncIterator]()).catch(onError)
}
