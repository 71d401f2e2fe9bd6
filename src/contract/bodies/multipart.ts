// Reads multipart/form-data as a series of typed parts: files as streams, fields as values of the schema.
import type { Readable } from 'node:stream'
import { createCompiler, isFileSchema, isSchemaObject, mapSubschemas, readJson } from '../schema/index.ts'
import type { Compile, Fault, Schema, Schemas, Validate } from '../schema/index.ts'
import type { FieldPart, FilePart } from '../body-types.ts'
import type { Media } from '../types.ts'
import { invalidBody } from './body-parser.ts'
import { HttpError } from '../../server/http-error.ts'
import { mediaTypePattern } from '../message/media-type.ts'
import { readField } from './form-field.ts'
import { fieldsTooLarge, nameless, readBytes, readParts } from './multipart-parts.ts'
import type { MultipartLimits, RawPart } from './multipart-parts.ts'
import { textSchema } from '../parameters/text-schema.ts'
import type { TextSchema } from '../parameters/text-schema.ts'

type AnyPart = FilePart<string> | FieldPart<string, unknown>

/** What was sent under one name, as JSON. Each file is a number. A whole list admits no second part. */
interface Sent { texts: string[], isList: boolean, isWhole: boolean }

/**
 * Returns a function from a body to its parts, in the order sent. A field that breaks the schema of its member ends them
 * with an error, and so does in the end a whole that breaks the schema, such as one without a required part.
 */
export function multipartReader (
  { schema = {}, encoding = {} }: Media,
  schemas: Schemas,
  compileForm: Compile,
  limits: MultipartLimits
): (body: Readable, contentType: string) => AsyncGenerator<AnyPart, void, void> {
  const form = textSchema(schema, schemas, compileForm)
  const fileTypes = new Map(Object.entries(encoding).map(([name, { contentType }]) => {
    return [name, contentType?.split(',').map(type => type.trim())]
  }))
  let validate: Validate | undefined

  return async function * (body, contentType) {
    const members = new Map<string, Sent>()
    let bytesLeft = limits.fieldBytes
    let files = 0
    for await (const part of readParts(body, contentType, limits)) {
      const name = nameOf(part)
      const member = form.member(name)
      const sent = members.get(name)
      // The names are kept, and then written and parsed as JSON, in which a byte may become six.
      if (sent === undefined) bytesLeft -= Buffer.byteLength(JSON.stringify(name))
      if (bytesLeft < 0) throw fieldsTooLarge()
      if (sent !== undefined && (sent.isWhole || isSingle(member))) throw invalid(name, 'is sent more than once')
      const texts = sent?.texts ?? []
      if (member === undefined || isFile(part, member)) {
        // A file that nobody declares is not for the handler, but `additionalProperties: false` refuses it.
        texts.push(String(files++))
        members.set(name, { texts, isList: member?.mayBeFile === false && member.item() !== undefined, isWhole: false })
        if (member !== undefined) yield filePart(name, part, fileTypes.get(name))
        continue
      }
      const bytes = await readBytes(name, part.file, bytesLeft)
      bytesLeft -= bytes.length
      const { value, json, isItem, isWhole } = readValue(name, bytes.toString(), member, part.contentType)
      if (isWhole && sent !== undefined) throw invalid(name, 'is sent more than once')
      members.set(name, { texts: [...texts, json], isList: isItem, isWhole })
      if (isWhole) for (const item of value as unknown[]) yield { name, value: item }
      else yield { name, value }
    }
    validate ??= compileForm(schema)
    const result = readJson(validate, Buffer.from(textOf(members)))
    if (result.fault !== undefined) throw invalidBody(result.faults?.() ?? [result.fault])
  }
}

function invalid (name: string, problem: string, path = ''): HttpError {
  const fault: Fault = { path: path === '' ? name : `${name}/${path}`, problem }
  return invalidBody([fault])
}

function nameOf ({ name, transferEncoding }: RawPart): string {
  if (name === undefined) throw new HttpError(400, nameless)
  if (!['7bit', '8bit', 'binary'].includes(transferEncoding)) {
    // RFC 7578, section 4.7: deprecated.
    throw invalid(name, 'must be sent without a Content-Transfer-Encoding')
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

function filePart (name: string, part: RawPart, types: string[] | undefined): FilePart<string> {
  const { file, filename, contentType } = part
  if (types !== undefined && !mediaTypePattern(types, '').test(contentType)) {
    throw invalid(name, `must be sent as ${types.join(' or ')}`)
  }
  return { name, file, filename, contentType }
}

interface Value { value: unknown, json: string, isItem: boolean, isWhole: boolean }

/** A part is an item of an array (OpenAPI 3.1, section 4.8.15), or one with a JSON array has them all. */
function readValue (name: string, text: string, member: TextSchema, contentType: string): Value {
  const isJson = mediaTypePattern(['application/json'], '').test(contentType)
  const whole = readField(text, member, isJson)
  if (whole.fault === undefined) {
    return { value: whole.value, json: whole.json, isItem: false, isWhole: Array.isArray(whole.value) }
  }
  const item = member.item()
  const read = item === undefined ? whole : readField(text, item, isJson)
  if (read.fault !== undefined) throw invalid(name, read.fault.problem, read.fault.path)
  const { value, json } = read
  return { value, json, isItem: true, isWhole: false }
}

function textOf (members: ReadonlyMap<string, Sent>): string {
  const texts = Array.from(members, ([name, { texts, isList }]) => {
    const json = isList || texts.length > 1 ? `[${texts.join()}]` : texts[0]
    return `${JSON.stringify(name)}:${json}`
  })
  return `{${texts.join()}}`
}

/** A compiler for the schemas of forms, withoutFiles(); most contracts do not need it. */
export function formCompiler (schemas: Schemas): Compile {
  let compile: Compile | undefined
  return schema => {
    compile ??= createCompiler(mapValues(schemas, withoutFiles), 'request')
    return compile(withoutFiles(schema as Schema))
  }
}

function mapValues (schemas: Schemas, change: (schema: Schema) => object): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema as Schema)]))
}

/** The schema of a form in which each file is a number, which differs from a text in a union. */
function withoutFiles (schema: Schema): object {
  if (isFileSchema(schema)) return { type: 'integer' }
  return mapSubschemas(schema, (_keyword, inner) => isSchemaObject(inner) ? withoutFiles(inner) : inner)
}
