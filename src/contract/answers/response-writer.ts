// Finds the response that the contract declares for an answer, checks the answer and writes its
// header fields and body.
import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { validateHeaderValue } from '../server/node-http.ts'
import { isInRange, isMediaType, isRange, kindOf, sentType } from '../message/media-type.ts'
import type { RoutedOperation } from '../message/paths.ts'
import { writeUnchecked } from '../schema/index.ts'
import { bodilessStatuses, type Media, type Response } from '../types/contract.ts'
import {
  bytesWriter, jsonWriter, type Payload, textWriter, type WriteBody, type WriterOptions
} from './body-writers.ts'
import { eventsWriter } from './events.ts'
import {
  type Fields, fieldsWriter, type HeaderValues, noFields, undeclared, writeFields
} from './header-fields.ts'
import { linesWriter } from './items.ts'

/** An answer of any operation. */
export interface AnyAnswer {
  readonly status: number
  readonly headers?: HeaderValues
  readonly contentType?: string
  readonly body?: unknown
}

interface WrittenBody { contentType: string | undefined, payload: Payload }
interface WrittenAnswer extends WrittenBody { fields: Fields }

type WriteAnswer = (answer: AnyAnswer, reply: FastifyReply) => WrittenAnswer

/** Finds the response by status, else by range, else `default` (OpenAPI 3.1, section 4.8.16). */
export function answerWriter (operation: RoutedOperation, options: WriterOptions): WriteAnswer {
  const { id, responses } = operation
  const { reportAnswer } = options
  const writers = new Map<string, WriteAnswer>()
  for (const [key, response] of Object.entries(responses)) {
    const itsOptions = key === 'default' ? ofDefault(options) : options
    writers.set(key.toLowerCase(), responseWriter(response, itsOptions))
  }
  return (answer, reply) => {
    const { status } = answer
    const write = writers.get(String(status)) ?? writers.get(`${String(status)[0]}xx`) ??
      writers.get('default')
    // After a status of 1XX the client would wait for the response.
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new Error(`${id} answered ${inspect(status)}, which is no status of a response`)
    }
    if (write !== undefined) return write(answer, reply)
    reportAnswer(`${status}${undeclared}`, reply)
    return { fields: writeFields(answer.headers ?? noFields), ...writeUndeclaredBody(answer) }
  }
}

/** Names the response in a breach: the status may be one that the handler did not mean. */
function ofDefault (options: WriterOptions): WriterOptions {
  const report: WriterOptions['report'] = (breach, reply) => {
    const message = `${breach.message}, as its status has no response but \`default\``
    options.report(new Error(message), reply)
  }
  return { ...options, report }
}

function responseWriter (response: Response, options: WriterOptions): WriteAnswer {
  const { reportAnswer } = options
  const writeHeaders = fieldsWriter(response, options)
  const writeContent = contentWriter(response, options)
  const hasContent = Object.keys(response.content ?? {}).length > 0
  return (answer, reply) => {
    const { status, headers = noFields, body } = answer
    const fields = writeHeaders(headers, reply)
    const mayHaveBody = hasContent && !(bodilessStatuses as readonly number[]).includes(status)
    if (body !== undefined && mayHaveBody) return { fields, ...writeContent(answer, reply) }
    if (mayHaveBody) reportAnswer(`${status} without its body`, reply)
    if (body !== undefined) reportAnswer(`${status} with a body${undeclared}`, reply)
    return { fields, ...writeUndeclaredBody(answer) }
  }
}

/**
 * Writes a body as the media type that the answer names; if it names none, as the only one of the
 * contract, or as the only one of JSON.
 */
function contentWriter ({ content = {} }: Response, options: WriterOptions) {
  const types = new Map<string, { contentType: string, write: WriteBody }>()
  const ranges: Array<{ range: string, write: WriteBody }> = []
  for (const [type, media] of Object.entries(content)) {
    const write = bodyWriter(type, media, options)
    if (isRange(type)) ranges.push({ range: type, write })
    else types.set(type, { contentType: sentType(type), write })
  }
  // A longer range is more specific.
  ranges.sort((one, other) => other.range.length - one.range.length)
  const json = [...types.keys()].filter(type => kindOf(type) === 'json')
  const candidates = types.size + ranges.length === 1 ? [...types.keys()] : json
  const only = candidates.length === 1 ? candidates[0] : undefined
  return (answer: AnyAnswer, reply: FastifyReply): WrittenBody => {
    const { contentType = only, status, body } = answer
    const declared = types.get(contentType as string)
    if (declared !== undefined) {
      return { contentType: declared.contentType, payload: declared.write(body, reply) }
    }
    if (isMediaType(contentType)) {
      const found = ranges.find(({ range }) => isInRange(contentType, range))
      if (found !== undefined) {
        return { contentType: sentType(contentType), payload: found.write(body, reply) }
      }
    }
    const problem = contentType === undefined
      ? `without contentType, which must be one of ${Object.keys(content).join(', ')}`
      : `as ${contentType}${undeclared}`
    options.reportAnswer(`${status} ${problem}`, reply)
    return writeUndeclaredBody(answer)
  }
}

function bodyWriter (type: string, media: Media, options: WriterOptions): WriteBody {
  switch (kindOf(type)) {
    case 'json': return jsonWriter(media, options)
    case 'text': return textWriter(media, options)
    case 'events': return eventsWriter(media, options)
    case 'lines': return linesWriter(type, media, options)
    default: return bytesWriter(options)
  }
}

/** Writes a body that the contract does not declare, as it is. */
function writeUndeclaredBody ({ contentType, body }: AnyAnswer): WrittenBody {
  if (contentType !== undefined) validateHeaderValue('Content-Type', contentType)
  if (body === undefined) return { contentType, payload: undefined }
  const type = contentType ?? 'application/octet-stream'
  if (body instanceof Readable) return { contentType: type, payload: body }
  if (body instanceof Uint8Array) return { contentType: type, payload: Buffer.from(body) }
  if (typeof body === 'string' && kindOf(contentType ?? '') !== 'json') {
    return { contentType: contentType ?? sentType('text/plain'), payload: Buffer.from(body) }
  }
  return { contentType: contentType ?? sentType('application/json'), payload: writeUnchecked(body) }
}
