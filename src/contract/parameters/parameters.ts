// Reads parameters from path, query, headers and cookies, and validates them.
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import {
  type Compile, type Fault, lazily, readJson, type Schemas, type Validate, type Validated
} from '../schema/index.ts'
import type { Media, Parameter, SecurityScheme } from '../types/contract.ts'
import { asHttpError, HttpError } from '../server/http-error.ts'
import { type RoutedOperation, segmentSource } from '../message/paths.ts'
import { decodeText, noTexts, rawPath, type Texts, textsIn } from '../message/request-texts.ts'
import { isSpread, styleReaders } from './styles.ts'
import type { Notation } from './notation.ts'
import { formReader } from './url-encoded-form.ts'
import { type Json, repetition, scalarJson, type TextWriter } from './text-json.ts'
import { textSchema, type TextSchema } from './text-schema.ts'

/**
 * The hooks that read an operation's parameters (OpenAPI 3.1, section 4.8.12). Text becomes a
 * number or a boolean where the schema says so. A missing, repeated or invalid parameter
 * is answered 400, with a sentence for each.
 * @param schemes the security schemes, whose API keys are no parameters
 */
export function readParameters (
  { template, parameters }: RoutedOperation,
  schemas: Schemas,
  compile: Compile,
  schemes: Readonly<Record<string, SecurityScheme>>
): onRequestHookHandler[] {
  if (parameters.length === 0) return []
  // Few operations are called soon after the start.
  const placesOf = lazily(() => {
    const groups = Map.groupBy(parameters, parameter => parameter.in)
    return Array.from(groups, ([place, inPlace]) => {
      const isClaimed = claimsOf(inPlace, Object.values(schemes), schemas, compile)
      const readers = inPlace.map(parameter => {
        return { name: parameter.name, read: valueReader(parameter, schemas, compile, isClaimed) }
      })
      return { place, textsOf: textsIn[place] ?? pathTexts(template), readers }
    })
  })
  return [(request, _reply, done) => {
    const values: Record<string, Record<string, unknown>> = {}
    let errors: HttpError[] | undefined
    for (const { place, textsOf, readers } of placesOf()) {
      const texts = textsOf(request)
      const ofPlace: Record<string, unknown> = {}
      for (const { name, read } of readers) {
        try {
          const value = read(texts)
          if (value !== undefined) ofPlace[name] = value
        } catch (error) {
          (errors ??= []).push(asHttpError(error))
        }
      }
      values[place] = ofPlace
    }
    if (errors !== undefined) throw asOne(errors)
    request.parameters = values
    done()
  }]
}

/** An error of the service counts before faults of the request. */
function asOne (errors: HttpError[]): HttpError {
  const status = Math.max(...errors.map(error => error.status)) as HttpError['status']
  const worst = errors.filter(error => error.status === status)
  const sentences = new Set(worst.map(({ message }) => message))
  const faults = worst.flatMap(error => error.faults)
  return new HttpError(status, [...sentences].join(' '), { cause: worst[0]?.cause, faults })
}

/** Whether a name belongs to a parameter or an API key, so that no other object takes it. */
function claimsOf (
  parameters: Parameter[],
  schemes: SecurityScheme[],
  schemas: Schemas,
  compile: Compile
): Notation['isClaimed'] {
  const claimed = new Set<string | undefined>()
  const deep = new Set<string>()
  for (const scheme of schemes) if (scheme.in === parameters[0]?.in) claimed.add(scheme.name)
  for (const parameter of parameters) {
    const schema = textSchema(parameter.schema, schemas, compile)
    const names = isSpreadObject(parameter, schema) ? schema.names : [parameter.name]
    for (const name of names) claimed.add(name)
    if (parameter.style === 'deepObject') deep.add(parameter.name)
  }
  return name => claimed.has(name) || deep.has(name.slice(0, Math.max(name.indexOf('['), 0)))
}

/** Whether each member of an object is sent by its name, and so nothing for one without members. */
function isSpreadObject (parameter: Parameter, schema: TextSchema): boolean {
  return parameter.isJson !== true && isSpread(parameter) && schema.types.has('object')
}

/** The segment of a path that has a parameter, and the group of its text. */
interface Place { index: number, group: number, pattern: RegExp }

/** Matches the encoded path: decoded, `%2F` and `%2C` would look like separators. */
function pathTexts (template: string): (request: FastifyRequest) => Texts {
  const places = new Map<string, Place>()
  for (const [index, segment] of template.split('/').entries()) {
    const { names, source } = segmentSource(segment)
    const pattern = new RegExp(`^${source}$`)
    for (const [i, name] of names.entries()) places.set(name, { index, group: i + 1, pattern })
  }
  return request => {
    const path = rawPath(request)
    const sent = path.split('/')
    return {
      ...noTexts,
      of (name) {
        const { index, group, pattern } = places.get(name) as Place
        const found = pattern.exec(withTextDecoded(sent[index] as string))
        if (found === null) throw new HttpError(404, `There is nothing at ${path}.`)
        return [found[group] as string]
      }
    }
  }
}

/** A segment with its encoded text decoded, except for separators and percent signs. */
function withTextDecoded (segment: string): string {
  if (!segment.includes('%')) return segment
  return segment.replace(/(?:%(?!25)[\da-f]{2})+/gi, decodeURI)
}

/**
 * Returns a function that reads the value of a parameter; undefined for a missing optional one.
 * @param isClaimed whether another parameter has a name
 * @throws HttpError when the default breaks the schema
 */
export function valueReader (
  parameter: Parameter,
  schemas: Schemas,
  compile: Compile,
  isClaimed: Notation['isClaimed'] = Boolean
): (texts: Texts) => unknown {
  const { required, default: value } = parameter
  const label = labelOf(parameter)
  const validate = compile(parameter.schema)
  const schema = textSchema(parameter.schema, schemas, compile)
  const readings = parameter.form === undefined
    ? readingsOf(parameter, schema, isClaimed)
    : [formReading({ schema: parameter.schema, ...parameter.form }, schemas, compile)]
  const unsent: Reading[] = []
  if (required && isSpreadObject(parameter, schema)) unsent.push(() => '{}')
  if (!required && value !== undefined) unsent.push(() => JSON.stringify(value))

  /** Returns the first valid value. Parsing it as JSON keeps integers exact. */
  const readFirst = (readings: Reading[], texts: Texts): unknown => {
    let first: Fault | undefined
    for (const read of readings) {
      const json = read(texts)
      if (json === undefined) continue
      const result = typeof json === 'string' ? readText(validate, json) : { fault: json }
      if (result.fault === undefined) return result.value
      first ??= result.fault
    }
    if (first === undefined) return undefined
    const { path, problem } = first
    throw faultOf(parameter, path && `/${path}`, `${label}${path && ` at ${path}`} ${problem}.`)
  }
  return texts => {
    let value = isUnused(parameter, texts) ? undefined : readFirst(readings, texts)
    if (value === undefined) value = readFirst(unsent, texts)
    if (value === undefined && required) throw faultOf(parameter, '', `${label} is missing.`)
    return value
  }
}

/** @param pointer to what is wrong in the value */
function faultOf ({ in: place, name }: Parameter, pointer: string, message: string): HttpError {
  return new HttpError(400, message, { faults: [{ in: place, path: name + pointer, message }] })
}

/** An integer that a double holds. */
const smallInteger = /^(?:0|[1-9]\d{0,14})$/

/** The most frequent parameters, such as ids and pages, need no parser. */
function readText (validate: Validate, json: string): Validated {
  return smallInteger.test(json) ? validate({ value: Number(json) }) : readJson(validate, json)
}

function labelOf ({ in: place, name }: Parameter): string {
  const kinds: Readonly<Record<string, string>> = { header: 'header field', cookie: 'cookie' }
  return `The ${kinds[place] ?? `${place} parameter`} "${name}"`
}

/** An empty text stands for no value (OpenAPI 3.1.1, section 4.8.12.2.1, allowEmptyValue). */
function isUnused ({ name, required, allowEmptyValue }: Parameter, texts: Texts): boolean {
  if (allowEmptyValue !== true || required) return false
  const sent = texts.of(name)
  return sent.length === 1 && sent[0] === ''
}

/** What may be the value, as JSON; undefined where nothing is sent. */
type Reading = (texts: Texts) => Json | undefined

/** Reads a query that is one form. */
function formReading (media: Media, schemas: Schemas, compile: Compile): Reading {
  const toJson = formReader(media, schemas, compile)
  return texts => {
    const [form] = texts.of('')
    return form === undefined ? undefined : toJson(form)
  }
}

/** In the order of preference: a number before a string where the schema allows both. */
function readingsOf (
  parameter: Parameter,
  schema: TextSchema,
  isClaimed: Notation['isClaimed']
): Reading[] {
  const { name, in: place } = parameter
  const decode = (text: string) => decodeText(text, place)
  if (parameter.isJson === true) {
    return [texts => {
      const [text, ...others] = texts.of(name)
      if (text === undefined) return undefined
      return others.length > 0 ? repetition : decode(text)
    }]
  }
  const readings: Reading[] = []
  for (const read of styleReaders({ ...parameter, place, schema, decode, isClaimed })) {
    readings.push(texts => read(texts, numbersFirst), texts => read(texts, stringsFirst))
  }
  return readings
}

const numbersFirst = textWriter(false)
const stringsFirst = textWriter(true)

/** Prefers a single text to a list of one where the value may be both. */
function textWriter (prefersString: boolean): TextWriter {
  const one: TextWriter['one'] = (text, schema) => {
    const isString = schema === undefined || (prefersString && schema.types.has('string'))
    return isString ? JSON.stringify(text) : scalarJson(text, schema.types)
  }
  return {
    one,
    several (texts, schema) {
      if (schema?.types.has('array') && (texts.length > 1 || !schema.mayBeText)) {
        return `[${texts.map(text => one(text, schema.item())).join()}]`
      }
      return texts.length > 1 ? repetition : one(texts[0] as string, schema)
    }
  }
}
