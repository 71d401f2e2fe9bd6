// Checks the header fields of an answer and writes their values as text: in style simple or as JSON
// (OpenAPI 3.1, section 4.8.21).
import type { FastifyReply } from 'fastify'
import { validateHeaderName, validateHeaderValue } from '../server/node-http.ts'
import { isSchemaObject, parseText, writeUnchecked, writeValid } from '../schema/index.ts'
import { framingFields, type Header, type Response } from '../types/contract.ts'
import type { WriterOptions } from './body-writers.ts'

/** The header fields as a handler gives them, and as Fastify sends them. */
export type HeaderValues = Readonly<Record<string, unknown>>
export type Fields = Record<string, string | string[]>

export const noFields: Record<string, never> = {}

/** The end of a sentence about a part of an answer. */
export const undeclared = ', which the contract does not declare'

/** Returns a function that checks and writes the fields that a response declares. */
export function fieldsWriter ({ headers = {} }: Response, options: WriterOptions) {
  const { compile, reportAnswer } = options
  const declared = Object.entries(headers).map(([name, header]) => {
    return { name, header, validate: compile(header.schema) }
  })
  const isOptional = declared.every(({ header }) => !header.required)
  return (given: HeaderValues, reply: FastifyReply): Fields => {
    if (given === noFields && isOptional) return noFields
    const extra = Object.keys(given).find(name => !Object.hasOwn(headers, name))
    if (extra !== undefined) {
      reportAnswer(`with the header field ${extra}${undeclared}`, reply)
    }
    const texts = new Map<string, string[]>()
    for (const { name, header, validate } of declared) {
      const value = Object.hasOwn(given, name) ? given[name] ?? undefined : undefined
      if (value === undefined) {
        if (header.required) reportAnswer(`without the required header field ${name}`, reply)
        continue
      }
      const checked = writeValid(validate, value)
      if (checked.fault !== undefined) {
        reportAnswer(`with a header field ${name} that ${checked.fault.problem}`, reply)
      }
      texts.set(name, writeHeaderTexts(value, header, checked.json))
    }
    return writeFields(given, texts)
  }
}

/** @param texts the texts of the fields that the contract declares, by name */
export function writeFields (given: HeaderValues, texts?: ReadonlyMap<string, string[]>): Fields {
  const fields: Array<[string, string | string[]]> = []
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue
    fields.push([name, fieldValue(name, texts?.get(name) ?? writeHeaderTexts(value))])
  }
  return Object.fromEntries(fields)
}

/** Joins items with commas; Set-Cookie gets one line per item (RFC 9110, section 5.3). */
function fieldValue (name: string, texts: string[]): string | string[] {
  const lowerCase = name.toLowerCase()
  // With a wrong length, a client would read the rest of the body as the next response.
  if ((framingFields as readonly string[]).includes(lowerCase)) {
    throw new Error(`an answer must not have the header field ${name}, which frames it`)
  }
  validateHeaderName(name)
  for (const text of texts) validateHeaderValue(name, text)
  return lowerCase === 'set-cookie' ? texts : texts.join(', ')
}

/**
 * The items of a list, or one text.
 * @param json the text of a declared value, without members that its schema does not declare
 */
function writeHeaderTexts (
  value: unknown,
  { explode = false, isJson = false }: Partial<Header> = {},
  json = writeUnchecked(value)
): string[] {
  if (isJson) return [inAscii(json)]
  if (!isSchemaObject(value)) return [value].flat().map(String)
  const names = Object.keys(parseText(json) as object)
  return [names.map(name => `${name}${explode ? '=' : ','}${value[name]}`).join()]
}

/** Node writes header fields in Latin-1 (RFC 9110, section 5.5). */
function inAscii (json: string): string {
  return json.replace(/[\u007f-\uffff]/g, unit => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
