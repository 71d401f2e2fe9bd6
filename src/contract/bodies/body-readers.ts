// Admits bodies and chooses their readers by media type. Where JSON is the only one, Fastify's own
// validation reads the body.
import type {
  FastifyInstance, FastifyRequest, onRequestHookHandler, onSendHookHandler, preValidationHookHandler
} from 'fastify'
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Compile, Schemas } from '../schema/index.ts'
import type { Body, Media, Operation } from '../types/contract.ts'
import { repeatedHeaders } from '../server/framing.ts'
import { bodyTooLarge, HttpError } from '../server/http-error.ts'
import { invalidBody, isReadWhole, jsonReader, missingBody, namesOf } from './body-parser.ts'
import { BodyStream } from './body-stream.ts'
import { readField } from '../parameters/form-field.ts'
import { answerEarly } from '../server/socket-errors.ts'
import { essence, kindOf, mediaTypeFinder } from '../message/media-type.ts'
import { linesReader } from './json-lines.ts'
import { formCompiler, multipartReader } from './multipart.ts'
import type { MultipartLimits } from './multipart-parts.ts'
import { textSchema, type TextSchema } from '../parameters/text-schema.ts'
import { formReader } from '../parameters/url-encoded-form.ts'

/** Limits of the bodies that handlers read as streams; the others have Fastify's bodyLimit. */
export interface BodyLimits extends MultipartLimits {
  /** Bytes of a whole body. By default 100 MiB. */
  streamBytes: number
  /** Bytes of one JSON line. By default Fastify's bodyLimit. */
  lineBytes: number
}

const defaultLimits = { streamBytes: 100 * 1024 * 1024, fileBytes: 100 * 1024 * 1024, parts: 1000 }

/** Whether JSON is the only media type, so that Fastify's own validation reads the body. */
export function isPlain ({ content }: Body): boolean {
  const types = Object.keys(content)
  return types.length === 1 && types.every(type => kindOf(type) === 'json')
}

interface BodyHooks {
  onRequest: onRequestHookHandler
  preValidation?: preValidationHookHandler
  onSend?: onSendHookHandler
}

/** What the handler gets of a body: of its bytes, or of the request that brings them. */
type Reader = (body: unknown, contentType: string) => unknown

/** Returns a function that makes the hooks that admit and read the body of an operation. */
export function bodyHooks (
  app: FastifyInstance,
  schemas: Schemas,
  compile: Compile,
  limits: Partial<BodyLimits> = {}
): (operation: Pick<Operation, 'body' | 'ignoresBody'>) => BodyHooks {
  const { bodyLimit } = app.initialConfig as { bodyLimit: number }
  const all = { ...defaultLimits, fieldBytes: bodyLimit, lineBytes: bodyLimit, ...limits }
  const engine = { schemas, compile, compileForm: formCompiler(schemas), limits: all }
  return ({ body, ignoresBody }) => {
    // Fastify never reads such a body.
    if (ignoresBody === true) return { onRequest: (_request, _reply, done) => done() }
    const find = bodyFinder(body)
    if (body === undefined || isPlain(body)) {
      return {
        onRequest (request, _reply, done) {
          const type = find(request)
          done(typeof type === 'string' ? undefined : type)
        }
      }
    }
    const readers = new Map<string, Reader>()
    for (const [type, media] of Object.entries(body.content)) {
      readers.set(type, readerOf(type, media, engine))
    }
    return {
      onRequest (request, _reply, done) {
        const type = find(request)
        if (typeof type !== 'string') return done(type)
        const { 'content-type': sent = '', 'content-length': length = 0 } = request.headers
        found.set(request, { type, sent })
        if (isReadWhole(type)) return done()
        // Without a media type Fastify passes the body on unread.
        delete request.headers['content-type']
        const { streamBytes } = all
        return done(Number(length) > streamBytes ? bodyTooLarge(streamBytes) : undefined)
      },
      preValidation (request, _reply, done) {
        const choice = found.get(request)
        if (choice === undefined) return done()
        const { type, sent } = choice
        const bytes = request.body ?? emptyBody(request, type)
        if (bytes === undefined) return done(body.required ? missingBody(body) : undefined)
        const read = readers.get(type) as Reader
        request.body = read(bytes, sent)
        const isOpen = type.includes('*')
        const contentType = isOpen ? essence(sent) : type
        if (readers.size > 1 || isOpen) request.parameters = { ...request.parameters, contentType }
        return done()
      },
      onSend: closeUnread
    }
  }
}

/** The media types of requests, as found and as sent. Those with plain bodies are not here. */
const found = new WeakMap<FastifyRequest, { type: string, sent: string }>()

/** Returns the media type of the contract that a body has, undefined without a body. */
type FindBody = (request: FastifyRequest) => string | HttpError | undefined

/**
 * Admits the media types of a body, with or without `charset=utf-8`, and no Content-Encoding. The
 * 415 for others says in a field what is admitted (RFC 9110, section 15.5.16).
 */
function bodyFinder (body: Body | undefined): FindBody {
  const find = mediaTypeFinder(Object.keys(body?.content ?? {}))
  const names = body === undefined ? [] : namesOf(body)
  const named = `${names.join(' or ')}${names.every(isReadWhole) ? ', in UTF-8' : ''}`
  return ({ headers, raw }) => {
    const { 'content-type': sent, 'content-encoding': encoding } = headers
    const type = sent === undefined ? undefined : find(sent)
    if (!hasBody(headers, type)) {
      // Without a body its media type does not matter. A deletion takes long, even of nothing.
      if (sent !== undefined) delete headers['content-type']
      return body?.required === true ? missingBody(body) : undefined
    }
    if (body === undefined) return new HttpError(415, 'This operation accepts no body.')
    if (encoding !== undefined) {
      const headers = { 'Accept-Encoding': 'identity' }
      return new HttpError(415, 'The body must be sent without a Content-Encoding.', { headers })
    }
    if (type === undefined) {
      const hasOtherParameter = names.includes(essence(String(sent)))
      const rule = hasOtherParameter ? ': charset=utf-8 is the only parameter' : ''
      const message = `The body must be sent as Content-Type: ${named}${rule}.`
      return new HttpError(415, message, { headers: { Accept: names.join(', ') } })
    }
    const isRepeated = repeatedHeaders(raw).has('content-type')
    return isRepeated ? new HttpError(415, 'Content-Type is sent more than once.') : type
  }
}

/** `Content-Length: 0` is a body if its media type may be empty, like chunks without a byte. */
function hasBody (headers: IncomingHttpHeaders, type: string | undefined): boolean {
  const { 'content-length': length, 'transfer-encoding': transfer } = headers
  if (transfer !== undefined || Number(length ?? 0) !== 0) return true
  return length !== undefined && type !== undefined && mayBeEmpty(type)
}

/** Whether no bytes are a body of the media type: an empty text, stream or sequence. */
function mayBeEmpty (type: string): boolean {
  return ['text', 'bytes', 'events', 'lines'].includes(kindOf(type))
}

function emptyBody ({ raw }: FastifyRequest, type: string): Buffer | IncomingMessage | undefined {
  if (!mayBeEmpty(type)) return undefined
  return isReadWhole(type) ? Buffer.alloc(0) : raw
}

/** The client may go on sending a body that nobody reads, so its connection is closed. */
const closeUnread: onSendHookHandler = ({ raw }, reply, payload, done) => {
  if (!raw.complete) {
    reply.header('Connection', 'close')
    answerEarly(raw)
  }
  done(null, payload)
}

interface Engine { schemas: Schemas, compile: Compile, compileForm: Compile, limits: BodyLimits }

function readerOf (type: string, media: Media, engine: Engine): Reader {
  const { schemas, compile, compileForm, limits } = engine
  const { schema = {} } = media
  const stream = (body: unknown) => new BodyStream(body as IncomingMessage, limits.streamBytes)
  switch (kindOf(type)) {
    case 'json': {
      const read = jsonReader(schema, schemas, compile)
      return bytes => read(bytes as Buffer)
    }
    case 'form': {
      const toJson = formReader(media, schemas, compile)
      const read = jsonReader(schema, schemas, compile)
      return bytes => {
        const json = toJson(textOf(bytes as Buffer))
        if (typeof json !== 'string') throw invalidBody([json])
        return read(Buffer.from(json))
      }
    }
    case 'text': return textReader(textSchema(schema, schemas, compile))
    case 'multipart': {
      const read = multipartReader(media, schemas, compileForm, limits)
      return (body, sent) => read(stream(body), sent)
    }
    case 'lines': {
      const read = linesReader(type, jsonReader(schema, schemas, compile), limits.lineBytes)
      return body => read(stream(body))
    }
    default: return stream
  }
}

/** A text stays a string, also where the schema names a number. One of an object does not apply. */
function textReader (schema: TextSchema): Reader {
  return bytes => {
    const text = textOf(bytes as Buffer)
    const { fault } = schema.mayBeText ? readField(text, schema) : {}
    if (fault !== undefined) throw invalidBody([fault])
    return text
  }
}

function textOf (bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidBody([{ path: '', problem: 'is not valid UTF-8' }])
  return bytes.toString()
}
