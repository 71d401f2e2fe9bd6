// Checks the body of an answer and writes it, by the kind of its media type: JSON, text or bytes.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import {
  type Compile, composedSchemas, isFileSchema, isString, type Schema, type Schemas, type Write,
  writeUnchecked
} from '../schema/index.ts'
import type { Media } from '../types/contract.ts'

/** The schemas of the contract, for answers. */
export interface AnswerSchemas {
  schemas: Schemas
  compile: Compile
  writerOf: (schema: object) => Write
}

/** What the writers of one operation share. */
export interface WriterOptions extends AnswerSchemas {
  /** Throws a breach of the contract, or logs it; then the answer is sent as it is. */
  report: (breach: Error, reply: FastifyReply) => void
  /** The same for a sentence that goes on after "The operation answered". */
  reportAnswer: (problem: string, reply: FastifyReply) => void
  /** Logs a fault that the response does not show. */
  logFault: (fault: Error, request: FastifyRequest) => void
}

export type Payload = string | Buffer | Readable | undefined
export type WriteBody = (body: unknown, reply: FastifyReply) => Payload

export function jsonWriter ({ schema = {} }: Media, options: WriterOptions): WriteBody {
  const { writerOf, report } = options
  const write = writerOf(schema)
  return (body, reply) => {
    try {
      return write(body)
    } catch (error) {
      report(error as Error, reply)
      return writeMismatch(body)
    }
  }
}

export function textWriter ({ schema }: Media, options: WriterOptions): WriteBody {
  const { schemas, compile, report, reportAnswer } = options
  const parts = composedSchemas({ ...schema }, schemas)
  if (parts.values().some(isFileSchema)) return bytesWriter(options)
  // The schema of a text may describe what the text means, such as the rows of a table.
  const isOfText = schema !== undefined && isString(schema as Schema, schemas)
  const validate = compile(isOfText ? schema : { type: 'string' })
  return (body, reply) => {
    const { fault } = validate({ value: body })
    if (fault !== undefined) reportAnswer(`with a text that ${fault.problem}`, reply)
    if (typeof body !== 'string') return writeMismatch(body)
    if (!body.isWellFormed()) report(loneSurrogate(), reply)
    return body
  }
}

export function bytesWriter ({ report, reportAnswer }: WriterOptions): WriteBody {
  return (body, reply) => {
    if (body instanceof Readable) return body
    if (body instanceof Uint8Array) {
      return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    }
    if (typeof body !== 'string') {
      reportAnswer('with a body that is not a string, a Uint8Array or a Readable', reply)
      return writeUnchecked(body)
    }
    if (!body.isWellFormed()) report(loneSurrogate(), reply)
    // Fastify would add a charset to some media types of strings.
    return Buffer.from(body)
  }
}

/** Writes a body of the wrong type: a stream stays a stream. */
export function writeMismatch (body: unknown): Payload {
  return body instanceof Readable ? body : writeUnchecked(body)
}

/** UTF-8 has no bytes for a lone surrogate: the client would get another character. */
export function loneSurrogate (): Error {
  return new Error('the answer is a text with a lone surrogate')
}
