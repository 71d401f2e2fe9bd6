// Bodies of operations that have more than one media type for JSON: each is read by the kind of its media type.
import type {
  FastifyInstance, FastifyRequest, onRequestHookHandler, onSendHookHandler, preValidationHookHandler
} from 'fastify'
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { readJson, removeUndeclared } from '../schema/index.ts'
import type { Compile, Schema, Schemas } from '../schema/index.ts'
import type { Body, Media } from '../types.ts'
import { invalidBody, isReadWhole, mayBeEmpty, missingBody } from './body-parser.ts'
import { BodyStream, tooLarge } from './body-stream.ts'
import { answerEarly } from '../message/errors.ts'
import { formReader } from './url-encoded-form.ts'
import { essence, kindOf, mediaTypeFinder } from '../message/media-type.ts'
import { toMember } from './form-field.ts'
import type { Member } from './form-field.ts'
import { formCompiler, multipartReader } from './multipart.ts'
import type { MultipartLimits } from './multipart-parts.ts'

/** Limits of the bodies that handlers read as streams; the others have Fastify's bodyLimit. */
export interface BodyLimits extends MultipartLimits {
  /** Bytes of a whole body. */
  streamBytes: number
}

const defaultLimits = { streamBytes: 100 * 1024 * 1024, fileBytes: 100 * 1024 * 1024, parts: 1000 }

/** Whether the body is read by Fastify's own validation: one media type, and that for JSON. */
export function isPlain ({ content }: Body): boolean {
  const types = Object.keys(content)
  return types.length === 1 && types.every(type => kindOf(type) === 'json')
}

/** What the handler gets of a body: of its bytes, or of the request that brings them. */
type Reader = (body: unknown, contentType: string) => unknown

/** The hooks of a route; none for a plain body. */
interface Readers {
  onRequest?: onRequestHookHandler[]
  preValidation?: preValidationHookHandler
  onSend?: onSendHookHandler
}

/** Returns a function that makes the hooks that read a body. refuseMediaType() comes before them. */
export function bodyReaders (
  app: FastifyInstance,
  schemas: Schemas,
  compile: Compile,
  limits: Partial<BodyLimits> = {}
): (body: Body) => Readers {
  const { bodyLimit: fieldBytes } = app.initialConfig as { bodyLimit: number }
  const all = { ...defaultLimits, fieldBytes, ...limits }
  const compileForm = formCompiler(schemas)
  return body => {
    if (isPlain(body)) return {}
    const readers = Object.entries(body.content).map(([type, media]): [string, Reader] => {
      return [type, toReader(type, media, { schemas, compile, compileForm, limits: all })]
    })
    return { onRequest: [chooseReader(new Map(readers), all)], preValidation: readMedia(body), onSend: closeUnread }
  }
}

/** How a request's body is read, what is read where Fastify found no byte, and its media type if it may be another. */
interface Choice { read: (body: unknown) => unknown, empty?: unknown, contentType?: string }

/** Not a field of every request, because most have plain bodies. */
const choices = new WeakMap<FastifyRequest, Choice>()

/** A hook that finds the reader for the media type that is sent. */
function chooseReader (readers: ReadonlyMap<string, Reader>, { streamBytes }: BodyLimits): onRequestHookHandler {
  const find = mediaTypeFinder([...readers.keys()])
  return (request, _reply, done) => {
    const { 'content-type': sent, 'content-length': length = 0 } = request.headers
    if (sent === undefined) return done()
    const type = find(sent) as string
    const read = readers.get(type) as Reader
    const isOpen = type.includes('*')
    const contentType = (readers.size > 1 || isOpen) && { contentType: isOpen ? essence(sent) : type }
    const empty = mayBeEmpty(type) && { empty: isReadWhole(type) ? Buffer.alloc(0) : request.raw }
    choices.set(request, { read: body => read(body, sent), ...empty, ...contentType })
    if (isReadWhole(type)) return done()
    // Without a media type Fastify passes the body on unread.
    delete request.headers['content-type']
    return done(Number(length) > streamBytes ? tooLarge() : undefined)
  }
}

function readMedia (declared: Body): preValidationHookHandler {
  return (request, _reply, done) => {
    const choice = choices.get(request)
    const body = request.body ?? choice?.empty
    if (choice === undefined || body === undefined) return done(declared.required ? missingBody(declared) : undefined)
    const { read, contentType } = choice
    try {
      request.body = read(body)
    } catch (error) {
      return done(error as Error)
    }
    if (contentType !== undefined) request.parameters = { ...request.parameters, contentType }
    return done()
  }
}

/** The client may go on sending a body that nobody reads, so its connection is closed. */
const closeUnread: onSendHookHandler = ({ raw }, reply, payload, done) => {
  if (!raw.complete) {
    reply.header('Connection', 'close')
    answerEarly(raw)
  }
  done(null, payload)
}

interface ReaderParts { schemas: Schemas, compile: Compile, compileForm: Compile, limits: BodyLimits }

function toReader (type: string, media: Media, { schemas, compile, compileForm, limits }: ReaderParts): Reader {
  const { schema = {} } = media
  const stream = (body: unknown) => new BodyStream(body as IncomingMessage, limits.streamBytes)
  switch (kindOf(type)) {
    case 'json': return jsonReader(schema, schemas, compile) as Reader
    case 'form': {
      const toJson = formReader(media, schemas, compile)
      const read = jsonReader(schema, schemas, compile)
      return bytes => read(Buffer.from(toJson(textOf(bytes as Buffer))))
    }
    case 'text': return textReader(toMember([schema as Schema], schemas, compile))
    case 'multipart': {
      const read = multipartReader(media, schemas, compileForm, limits)
      return (body, sent) => read(stream(body), sent)
    }
    default: return stream
  }
}

function jsonReader (schema: object, schemas: Schemas, compile: Compile): (bytes: Buffer) => unknown {
  const validate = compile(schema)
  const toDeclared = removeUndeclared(schema as Schema, schemas)
  return bytes => {
    const result = readJson(validate, bytes)
    if (result.fault !== undefined) throw invalidBody(result.faults?.() ?? [result.fault])
    return toDeclared(result.value)
  }
}

const textTypes = ['string', 'integer', 'number', 'boolean']

/** A text stays a string, also where the schema names a number. A schema of an object says nothing of a text. */
function textReader ({ types, read }: Member): Reader {
  const isChecked = types.size === 0 || textTypes.some(type => types.has(type))
  return bytes => {
    const text = textOf(bytes as Buffer)
    const { fault } = isChecked ? read(text) : {}
    if (fault !== undefined) throw invalidBody([fault])
    return text
  }
}

function textOf (bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidBody([{ path: '', problem: 'is not valid UTF-8' }])
  return bytes.toString()
}
