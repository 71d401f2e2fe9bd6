// Parameters: from text in the address, the header fields and the cookies to the values that the contract describes.
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { ServiceError } from '../../errors.ts'
import { parseJson } from '../schema/json.ts'
import { rawPath, segmentSource, withTextDecoded } from './paths.ts'
import type { Routed } from './paths.ts'
import { refersTo, subschemas } from '../schema/schemas.ts'
import type { Schema, Schemas } from '../schema/schemas.ts'
import type { Parameter } from '../types.ts'
import { putIntegers } from '../schema/validator.ts'
import type { Compile } from '../schema/validator.ts'

/** The values of a request's parameters, by place and name, as a handler gets them. */
export type Values = Record<string, Record<string, unknown>>

/**
 * The hooks that read an operation's parameters in their default styles: form for query and cookie, simple for path and
 * header (OpenAPI 3.1, section 4.8.12.2). Text becomes a number or a boolean where the schema says so; nothing else is
 * coerced. A parameter that is missing, sent twice or not what the contract says is answered 400.
 */
export function readParameters (operation: Routed, schemas: Schemas, compile: Compile): onRequestHookHandler[] {
  if (operation.parameters.length === 0) return []
  const read = parameterReader(operation, schemas, compile)
  return [(request, _reply, done) => {
    request.parameters = read(request)
    done()
  }]
}

function parameterReader ({ template, parameters }: Routed, schemas: Schemas, compile: Compile): (request: FastifyRequest) => Values {
  const places = [...new Set(parameters.map(parameter => parameter.in))]
  const sources = places.map(place => [place, openSource(place, template)] as const)
  const readers = parameters.map(parameter => ({ parameter, read: valueReader(parameter, schemas, compile) }))
  return request => {
    const texts = new Map(sources.map(([place, open]) => [place, open(request)]))
    const values: Values = Object.fromEntries(places.map(place => [place, {}]))
    for (const { parameter, read } of readers) {
      const value = read((texts.get(parameter.in) as Source)(parameter.name))
      if (value !== undefined) (values[parameter.in] as Record<string, unknown>)[parameter.name] = value
    }
    return values
  }
}

/** All the texts that were sent under a name, in order, not decoded yet where they came percent-encoded. */
type Source = (name: string) => string[]

function openSource (place: string, template: string): (request: FastifyRequest) => Source {
  switch (place) {
    case 'path': return openPath(template)
    case 'query': return request => parsePairs(request.url.split('?').slice(1).join('?'), '&', name => decode(name, true))
    // The name of a cookie is a token (RFC 6265, section 4.1.1): nothing to decode.
    case 'cookie': return request => parsePairs(request.headers.cookie ?? '', ';', name => name)
    default: return ({ raw: { rawHeaders } }) => name => rawHeaders.filter((_text, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name.toLowerCase())
  }
}

/** Reads the path as it was sent: once decoded, `%2F` and `%2C` could not be told from the separators. */
function openPath (template: string): (request: FastifyRequest) => Source {
  const segments = template.split('/').map(segment => segmentPattern(segment))
  return request => {
    const sent = rawPath(request).split('/')
    const texts = new Map(segments.flatMap(({ names, pattern }, index) => {
      if (names.length === 0) return []
      const found = pattern.exec(withTextDecoded(sent[index] as string))
      if (found === null) throw new ServiceError('not-found', `There is nothing at ${rawPath(request)}.`)
      return names.map((name, position): [string, string] => [name, found[position + 1] as string])
    }))
    return name => [texts.get(name)].filter(text => text !== undefined)
  }
}

function segmentPattern (segment: string): { names: string[], pattern: RegExp } {
  const { names, source } = segmentSource(segment)
  return { names, pattern: new RegExp(`^${source}$`) }
}

function parsePairs (text: string, separator: string, decodeName: (name: string) => string): Source {
  const pairs = Map.groupBy(text.split(separator).map(pair => {
    const [, name = '', value = ''] = /^\s*([^=]*)=?(.*?)\s*$/s.exec(pair) as RegExpExecArray
    return { name: decodeName(name), value }
  }), ({ name }) => name)
  return name => pairs.get(name)?.map(({ value }) => value) ?? []
}

/**
 * Turns what was sent under a parameter's name into its value; undefined: it may be missing and is.
 * @throws ServiceError when the default is not what the schema says
 */
export function valueReader (parameter: Parameter, schemas: Schemas, compile: Compile): (texts: string[]) => unknown {
  const { name, required, explode, schema } = parameter
  const types = typesOf(schema as Schema, schemas)
  const itemTypes = typesOf(schema as Schema, schemas, 'items')
  const validate = compile(schema)
  const initial = defaultOf(schema as Schema, schemas)
  const label = `The ${parameter.in === 'header' ? 'header field' : parameter.in === 'cookie' ? 'cookie' : `${parameter.in} parameter`} "${name}"`
  const split = parameter.in === 'query' && explode ? (texts: string[]) => texts : (texts: string[]) => texts.join(',').split(',')
  const decoded = (text: string) => decodeIn(parameter.in, text)

  // Values are read as JSON, as bodies are: integers that a double cannot hold are exact.
  const check = (candidates: string[]): unknown => {
    const faults = []
    for (const json of candidates) {
      const holder = parseJson(Buffer.from(json))
      const { fault, findings } = validate(holder, '')
      putIntegers(findings)
      if (fault === undefined) return holder['']
      faults.push(fault)
    }
    const [{ path, problem }] = faults as [typeof faults[0] & object]
    throw new ServiceError('invalid', `${label}${path && ` at ${path}`} ${problem}.`)
  }
  const missing = () => initial === undefined ? undefined : check([JSON.stringify(initial)])
  missing()
  return texts => {
    if (texts.length === 0) {
      if (required) throw new ServiceError('invalid', `${label} is missing.`)
      return missing()
    }
    if (types.has('array')) return check([`[${split(texts).map(text => toJson(decoded(text), itemTypes)).join()}]`])
    if (texts.length > 1) throw new ServiceError('invalid', `${label} is sent more than once.`)
    const text = decoded(texts[0] as string)
    const json = toJson(text, types)
    // What may be a number or a string, is a number where it can be.
    return check(types.has('string') ? [json, JSON.stringify(text)] : [json])
  }
}

/** The JSON text of a value that was sent as text: a number (RFC 8259, section 6) or a boolean where the types have it, else a string. */
function toJson (text: string, types: ReadonlySet<string>): string {
  const isNumber = (types.has('integer') || types.has('number')) && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text)
  const isBoolean = types.has('boolean') && (text === 'true' || text === 'false')
  return isNumber || isBoolean ? text : JSON.stringify(text)
}

/** A reader of what was sent under a name in a header field, the query or a cookie, decoded. */
export function textReader (place: string): (request: FastifyRequest, name: string) => string[] {
  const open = openSource(place, '')
  return (request, name) => open(request)(name).map(text => decodeIn(place, text))
}

function decodeIn (place: string, text: string): string {
  return place === 'header' ? text.trim() : decode(text, place === 'query')
}

/** Percent-encoded text (RFC 3986, section 2.1); in a query a plus sign is a space, as forms send it. */
function decode (text: string, plusIsSpace = false): string {
  try {
    return decodeURIComponent(plusIsSpace ? text.replaceAll('+', ' ') : text)
  } catch {
    throw new ServiceError('invalid', 'The address or a cookie of the request cannot be decoded.')
  }
}

/** The types that a schema, or what it holds under `items`, allows by itself or by the schemas that it is made of. */
export function typesOf (schema: Schema, schemas: Schemas, inside?: 'items'): Set<string> {
  const types = new Set<string>()
  const seen = new Set<Schema>()
  const visit = (schema: Schema | undefined, within: boolean): void => {
    if (schema === undefined || seen.has(schema)) return
    seen.add(schema)
    const values = [schema.enum ?? [], 'const' in schema ? schema.const : []].flat()
    const own = schema.type === undefined ? values.map(value => typeof value) : [schema.type].flat() as string[]
    if (within) for (const type of own) types.add(type)
    visit(refersTo(schemas, schema), within)
    for (const [keyword, subschema] of subschemas(schema)) {
      if (['allOf', 'anyOf', 'oneOf'].includes(keyword)) visit(subschema, within)
      if (keyword === inside && !within) visit(subschema, true)
    }
  }
  visit(schema, inside === undefined)
  return types
}

function defaultOf (schema: Schema, schemas: Schemas): unknown {
  const target = refersTo(schemas, schema)
  return 'default' in schema ? schema.default : target && defaultOf(target, schemas)
}
