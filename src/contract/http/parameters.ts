// Reads parameters from path, query, headers and cookies, and validates them.
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { composedSchemas, readJson, subschemas } from '../schema/index.ts'
import type { Compile, Fault, Schema, Schemas, Validate } from '../schema/index.ts'
import type { Parameter } from '../types.ts'
import { HttpError } from './http-error.ts'
import { segmentSource } from './paths.ts'
import type { RoutedOperation } from './paths.ts'
import { decodeText, rawPath, textsIn } from './request.ts'
import type { Texts } from './request.ts'

/** The values of a request's parameters, by place and name. */
type Values = Record<string, Record<string, unknown>>

/**
 * The hooks that read an operation's parameters in their default styles: form for query and cookie, simple for path and
 * header (OpenAPI 3.1, section 4.8.12.2). Text becomes a number or a boolean where the schema says so; nothing else is
 * coerced. A missing, repeated or invalid parameter is answered 400.
 */
export function readParameters (
  operation: RoutedOperation,
  schemas: Schemas,
  compile: Compile
): onRequestHookHandler[] {
  if (operation.parameters.length === 0) return []
  const read = parametersReader(operation, schemas, compile)
  return [(request, _reply, done) => {
    request.parameters = read(request)
    done()
  }]
}

function parametersReader ({ template, parameters }: RoutedOperation, schemas: Schemas, compile: Compile) {
  const places = Map.groupBy(parameters, parameter => parameter.in)
  const readers = Array.from(places, ([place, inPlace]) => ({
    place,
    textsOf: textsIn[place] ?? pathTexts(template),
    values: inPlace.map(parameter => ({ name: parameter.name, read: valueReader(parameter, schemas, compile) }))
  }))
  return (request: FastifyRequest): Values => Object.fromEntries(readers.map(({ place, textsOf, values }) => {
    const texts = textsOf(request)
    const read = values.map(({ name, read }): [string, unknown] => [name, read(texts(name))])
    return [place, Object.fromEntries(read.filter(([, value]) => value !== undefined))]
  }))
}

/** Matches the encoded path: decoded, `%2F` and `%2C` would look like separators. */
function pathTexts (template: string): (request: FastifyRequest) => Texts {
  const segments = template.split('/').map(segment => {
    const { names, source } = segmentSource(segment)
    return { names, pattern: new RegExp(`^${source}$`) }
  })
  return request => {
    const sent = rawPath(request).split('/')
    const texts = new Map(segments.flatMap(({ names, pattern }, index) => {
      if (names.length === 0) return []
      const found = pattern.exec(withTextDecoded(sent[index] as string))
      if (found === null) throw new HttpError(404, `There is nothing at ${rawPath(request)}.`)
      return names.map((name, position): [string, string] => [name, found[position + 1] as string])
    }))
    return name => [texts.get(name)].filter(text => text !== undefined)
  }
}

/** A segment with its encoded text decoded, except for separators and percent signs. */
function withTextDecoded (segment: string): string {
  return segment.replace(/(?:%(?!25)[\da-f]{2})+/gi, decodeURI)
}

/**
 * A function from the texts under a parameter's name to its value; undefined for a missing optional parameter.
 * @throws HttpError when the schema refuses the default
 */
export function valueReader (parameter: Parameter, schemas: Schemas, compile: Compile): (texts: string[]) => unknown {
  const label = labelOf(parameter)
  const validate = compile(parameter.schema)
  const toJson = jsonReader(parameter, label, schemas)
  const defaultTexts = parameter.default === undefined ? undefined : [JSON.stringify(parameter.default)]
  const readDefault = () => defaultTexts && readFirst(defaultTexts, validate, label)
  return texts => {
    if (texts.length > 0) return readFirst(toJson(texts), validate, label)
    if (parameter.required) throw new HttpError(400, `${label} is missing.`)
    return readDefault()
  }
}

function labelOf ({ in: place, name }: Parameter): string {
  const kinds: Readonly<Record<string, string>> = { header: 'header field', cookie: 'cookie' }
  return `The ${kinds[place] ?? `${place} parameter`} "${name}"`
}

/** Returns a converter from raw texts to JSON candidates, preferred first. */
function jsonReader (parameter: Parameter, label: string, schemas: Schemas): (texts: string[]) => string[] {
  const { in: place, explode, schema } = parameter
  const types = typesOf(schema as Schema, schemas)
  if (types.has('array')) {
    const itemTypes = itemTypesOf(schema as Schema, schemas)
    const hasTextPerItem = place === 'query' && explode
    return texts => {
      const items = hasTextPerItem ? texts : texts.join(',').split(',')
      return [`[${items.map(text => toJson(decodeText(text, place), itemTypes)).join()}]`]
    }
  }
  return texts => {
    if (texts.length > 1) throw new HttpError(400, `${label} is sent more than once.`)
    const text = decodeText(texts[0] as string, place)
    // Prefers a number to a string where the schema allows both.
    return types.has('string') ? [toJson(text, types), JSON.stringify(text)] : [toJson(text, types)]
  }
}

/** Returns the first valid candidate. Parsing it as JSON keeps integers exact. */
function readFirst (candidates: string[], validate: Validate, label: string): unknown {
  const faults: Fault[] = []
  for (const json of candidates) {
    const result = readJson(validate, Buffer.from(json))
    if (result.fault === undefined) return result.value
    faults.push(result.fault)
  }
  const [{ path, problem }] = faults as [Fault]
  throw new HttpError(400, `${label}${path && ` at ${path}`} ${problem}.`)
}

/** A text as JSON: a number (RFC 8259, section 6) or a boolean where the types allow it, else a string. */
export function toJson (text: string, types: ReadonlySet<string>): string {
  const mayBeNumber = types.has('integer') || types.has('number')
  const isNumber = mayBeNumber && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text)
  const isBoolean = types.has('boolean') && (text === 'true' || text === 'false')
  return isNumber || isBoolean ? text : JSON.stringify(text)
}

/** The types that a schema allows, directly or through $ref, allOf, anyOf and oneOf. */
function typesOf (schema: Schema, schemas: Schemas): Set<string> {
  return new Set([...composedSchemas(schema, schemas)].flatMap(part => {
    if (part.type !== undefined) return [part.type].flat() as string[]
    const values = [part.enum ?? [], 'const' in part ? part.const : []].flat()
    return values.map(value => typeof value)
  }))
}

function itemTypesOf (schema: Schema, schemas: Schemas): Set<string> {
  const inside = [...composedSchemas(schema, schemas)].flatMap(subschemas)
  return new Set(inside.flatMap(([keyword, item]) => keyword === 'items' ? [...typesOf(item, schemas)] : []))
}
