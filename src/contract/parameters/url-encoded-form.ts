// Reads application/x-www-form-urlencoded as the JSON of the object that the schema describes.
import type { Compile, Schemas } from '../schema/index.ts'
import type { Encoding, Media } from '../types/contract.ts'
import { fieldJson, readField } from './form-field.ts'
import { deepObjectReader } from './deep-object.ts'
import { isSpread, listReader, objectReader } from './styles.ts'
import type { StyleReader } from './notation.ts'
import { faulty, type Json, objectJson, repetition, type TextWriter } from './text-json.ts'
import { textSchema, type TextSchema } from './text-schema.ts'

/**
 * Returns a function from a form to JSON, to be validated as any JSON is, or to a fault. Without an
 * encoding an array has a pair for each item and an object is sent as JSON; `style` and `explode`
 * change that (OpenAPI 3.1, section 4.8.15). Names that the schema does not declare are texts.
 */
export function formReader (
  media: Media,
  schemas: Schemas,
  compile: Compile
): (text: string) => Json {
  const schema = textSchema(media.schema ?? {}, schemas, compile)
  const encoded: Array<{ name: string, read: StyleReader }> = []
  for (const [name, encoding] of Object.entries(media.encoding ?? {})) {
    const member = schema.member(name)
    const read = member && encodingReader(name, member, encoding)
    if (read !== undefined) encoded.push({ name, read })
  }
  return text => {
    if (!isEncoded(text)) return faulty('has invalid percent-encoding')
    const sent = textsOf(text)
    const members = new Map<string, Json>()
    const used = new Set<string>()
    const of = (name: string): string[] => {
      used.add(name)
      return sent.get(name) ?? []
    }
    for (const { name, read } of encoded) {
      used.clear()
      const json = read({ names: () => sent.keys(), of }, writer)
      // Several texts are read as without an encoding.
      if (json === undefined || json === repetition) continue
      members.set(name, json)
      for (const name of used) sent.delete(name)
    }
    for (const [name, texts] of sent) {
      const json = writer.several(texts.map(decode), schema.member(name))
      members.set(name, members.has(name) ? repetition : json)
    }
    return objectJson(members)
  }
}

/** Undefined for a member that is read as without an encoding. */
function encodingReader (
  name: string,
  schema: TextSchema,
  encoding: Encoding
): StyleReader | undefined {
  const style = encoding.style ?? (encoding.explode === undefined ? '' : 'form')
  const explode = encoding.explode ?? style === 'form'
  const notation = { name, place: 'form', style, explode, schema, decode, isClaimed: () => true }
  if (style === 'deepObject') return deepObjectReader(notation)
  const mayBeObject = schema.types.has('object')
  if (isSpread(notation)) return mayBeObject ? objectReader(notation) : undefined
  if (explode || !['form', 'spaceDelimited', 'pipeDelimited'].includes(style)) return undefined
  if (schema.item() !== undefined) return listReader(notation)
  return mayBeObject ? objectReader(notation) : undefined
}

/** One text may hold a whole list as JSON. A name that the schema does not declare has texts. */
const writer: TextWriter = {
  one: (text, schema) => schema === undefined ? JSON.stringify(text) : fieldJson(text, schema),
  several (texts, schema) {
    const [text = '', ...others] = texts
    const item = schema?.item()
    if (others.length === 0) {
      if (schema === undefined || item === undefined) return writer.one(text, schema)
      const { fault, json } = readField(text, schema)
      if (fault === undefined) return json
    }
    if (others.length > 0 && item === undefined && (schema?.types.size ?? 0) > 0) return repetition
    return `[${texts.map(text => writer.one(text, item ?? schema)).join()}]`
  }
}

/** Encoded texts by decoded name. */
function textsOf (form: string): Map<string, string[]> {
  const texts = new Map<string, string[]>()
  for (const pair of form.split('&')) {
    if (pair === '') continue
    const [encoded = '', ...text] = pair.split('=')
    const name = decode(encoded)
    const ofName = texts.get(name) ?? []
    ofName.push(text.join('='))
    texts.set(name, ofName)
  }
  return texts
}

function decode (text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

/** Whether all parts of a form can be decoded: no delimiter is a part of an encoded character. */
function isEncoded (form: string): boolean {
  try {
    decodeURIComponent(form)
    return true
  } catch {
    return false
  }
}
