// Reads multipart/form-data as a series of typed parts: files as streams, fields as values.
import type { Readable } from 'node:stream'
import {
  type Compile, createCompiler, isFileSchema, isSchemaObject, lazily, mapSubschemas, mapValues,
  readJson, type Schema, type Schemas
} from '../schema/index.ts'
import type { FieldPart, FilePart } from '../types/body.ts'
import type { Media } from '../types/contract.ts'
import { invalidBody } from './body-parser.ts'
import { HttpError } from '../server/http-error.ts'
import { mediaTypePattern } from '../message/media-type.ts'
import { readField } from '../parameters/form-field.ts'
import {
  fieldsTooLarge, type MultipartLimits, nameless, type RawPart, readBytes, readParts
} from './multipart-parts.ts'
import { faultIn, faulty, objectJson, repetition } from '../parameters/text-json.ts'
import { textSchema, type TextSchema } from '../parameters/text-schema.ts'

type AnyPart = FilePart<string> | FieldPart<string, unknown>

/** The JSON of the parts of a name; each file is a number. A whole list admits no second part. */
interface NamedParts { texts: string[], isList: boolean, isWhole: boolean }

/**
 * Returns a function from a body to its parts, in the order sent. They end with an error at a field
 * that breaks the schema of its member, or after the last part, if for example a part is missing.
 */
export function multipartReader (
  { schema = {}, encoding = {} }: Media,
  schemas: Schemas,
  compileForm: Compile,
  limits: MultipartLimits
): (body: Readable, contentType: string) => AsyncGenerator<AnyPart, void, void> {
  const form = textSchema(schema, schemas, compileForm)
  return async function * (body, contentType) {
    const members = new Map<string, NamedParts>()
    let bytesLeft = limits.fieldBytes
    let files = 0
    for await (const part of readParts(body, contentType, limits)) {
      const name = nameOf(part)
      const member = form.member(name)
      const sent = members.get(name) ?? { texts: [], isList: false, isWhole: false }
      const isFirst = sent.texts.length === 0
      members.set(name, sent)
      // The names are kept, and then written and parsed as JSON, in which a byte may become six.
      if (isFirst) bytesLeft -= Buffer.byteLength(JSON.stringify(name))
      if (bytesLeft < 0) throw fieldsTooLarge()
      if (!isFirst && (sent.isWhole || isSingle(member))) throw repeatedPart(name)
      if (member === undefined || isFile(part, member)) {
        // The handler gets no undeclared file, but `additionalProperties: false` counts it.
        sent.texts.push(String(files++))
        sent.isList = member?.mayBeFile === false && member.item() !== undefined
        if (member !== undefined) yield filePart(name, part, encoding[name]?.contentType)
        continue
      }
      const bytes = await readBytes(name, part.file, bytesLeft)
      bytesLeft -= bytes.length
      const { value, json, isItem } = readValue(name, bytes.toString(), member, part.contentType)
      sent.isWhole = !isItem && Array.isArray(value)
      if (sent.isWhole && !isFirst) throw repeatedPart(name)
      sent.isList = isItem
      sent.texts.push(json)
      if (sent.isWhole) for (const item of value as unknown[]) yield { name, value: item }
      else yield { name, value }
    }
    const result = readJson(form.validator(), formJson(members))
    if (result.fault !== undefined) throw invalidBody(result.faults?.() ?? [result.fault])
  }
}

function repeatedPart (name: string): HttpError {
  return invalidBody([faultIn(name, repetition)])
}

function nameOf ({ name, transferEncoding }: RawPart): string {
  if (name === undefined) throw new HttpError(400, nameless)
  if (!['7bit', '8bit', 'binary'].includes(transferEncoding)) {
    // RFC 7578, section 4.7: deprecated.
    const fault = faulty('must be sent without a Content-Transfer-Encoding')
    throw invalidBody([faultIn(name, fault)])
  }
  return name
}

/** A member that may be sent only once; what has no type may be a list. */
function isSingle (member: TextSchema | undefined): boolean {
  return member !== undefined && member.item() === undefined && member.types.size > 0
}

/** Where the schema admits both or says nothing, a part with a filename is a file. */
function isFile ({ filename }: RawPart, member: TextSchema): boolean {
  const item = member.item()
  const mayBeFile = member.mayBeFile || item?.mayBeFile === true
  const mayBeValue = member.mayBeValue || item?.mayBeValue === true
  if (mayBeFile && !mayBeValue) return true
  return filename !== undefined && mayBeFile === mayBeValue
}

function filePart (name: string, part: RawPart, typesText: string | undefined): FilePart<string> {
  const { file, filename, contentType } = part
  const types = typesText?.split(',').map(type => type.trim())
  if (types !== undefined && !mediaTypePattern(types, '').test(contentType)) {
    throw invalidBody([faultIn(name, faulty(`must be sent as ${types.join(' or ')}`))])
  }
  return { name, file, filename, contentType }
}

interface PartValue { value: unknown, json: string, isItem: boolean }

/** A part is an item of an array (OpenAPI 3.1, section 4.8.15), or a JSON array of all items. */
function readValue (name: string, text: string, member: TextSchema, type: string): PartValue {
  const isJson = mediaTypePattern(['application/json'], '').test(type)
  const item = member.item()
  let read = readField(text, member, isJson)
  const isItem = read.fault !== undefined && item !== undefined
  if (isItem) read = readField(text, item, isJson)
  if (read.fault === undefined) return { value: read.value, json: read.json, isItem }
  throw invalidBody([faultIn(name, read.fault)])
}

function formJson (members: ReadonlyMap<string, NamedParts>): string {
  const jsons = new Map<string, string>()
  for (const [name, { texts, isList }] of members) {
    const isOne = !isList && texts.length === 1
    jsons.set(name, isOne ? texts.join() : `[${texts.join()}]`)
  }
  return objectJson(jsons) as string
}

/** A compiler for the schemas of forms, withoutFiles(); most contracts do not need it. */
export function formCompiler (schemas: Schemas): Compile {
  const compiler = lazily(() => {
    return createCompiler(mapValues(schemas, schema => withoutFiles(schema as Schema)), 'request')
  })
  return schema => compiler()(withoutFiles(schema as Schema))
}

/** The schema of a form in which each file is a number: in a union that differs from a text. */
function withoutFiles (schema: Schema): object {
  if (isFileSchema(schema)) return { type: 'integer' }
  return mapSubschemas(schema, (_keyword, inner) => {
    return isSchemaObject(inner) ? withoutFiles(inner) : inner
  })
}
