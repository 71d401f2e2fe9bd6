// Reads parameters from path, query, headers and cookies, and validates them.
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { readJson } from '../schema/index.ts'
import type { Compile, Fault, Schema, Schemas, Validate } from '../schema/index.ts'
import type { Parameter, SecurityScheme } from '../types.ts'
import { HttpError } from '../../server/http-error.ts'
import { repeated } from './sent.ts'
import type { Sent } from './sent.ts'
import { segmentSource } from '../routing/paths.ts'
import type { RoutedOperation } from '../routing/paths.ts'
import { decodeText, rawPath, textsFrom, textsIn } from '../message/request.ts'
import type { Texts } from '../message/request.ts'
import { shapeOf, toJson } from './text-schema.ts'
import type { Shape } from './text-schema.ts'
import { hasSpreadMembers, styleReaders } from './styles.ts'

/** The values of a request's parameters, by place and name. */
type Values = Record<string, Record<string, unknown>>
type Schemes = Readonly<Record<string, SecurityScheme>>

/**
 * The hooks that read an operation's parameters (OpenAPI 3.1, section 4.8.12). Text becomes a number or a boolean where
 * the schema says so; nothing else is coerced. A missing, repeated or invalid parameter is answered 400.
 * @param schemes the security schemes, whose API keys are no parameters
 */
export function readParameters (
  operation: RoutedOperation,
  schemas: Schemas,
  compile: Compile,
  schemes: Schemes
): onRequestHookHandler[] {
  if (operation.parameters.length === 0) return []
  const read = parametersReader(operation, schemas, compile, schemes)
  return [(request, _reply, done) => {
    request.parameters = read(request)
    done()
  }]
}

function parametersReader (
  { template, parameters }: RoutedOperation,
  schemas: Schemas,
  compile: Compile,
  schemes: Schemes
) {
  const places = Map.groupBy(parameters, parameter => parameter.in)
  const readers = Array.from(places, ([place, inPlace]) => {
    const isClaimed = claims(place, inPlace, schemas, schemes)
    return {
      place,
      textsOf: textsIn[place] ?? pathTexts(template),
      values: inPlace.map(parameter => {
        return { name: parameter.name, read: valueReader(parameter, schemas, compile, isClaimed) }
      })
    }
  })
  return (request: FastifyRequest): Values => Object.fromEntries(readers.map(({ place, textsOf, values }) => {
    const texts = textsOf(request)
    const read = values.map(({ name, read }): [string, unknown] => [name, read(texts)])
    return [place, Object.fromEntries(read.filter(([, value]) => value !== undefined))]
  }))
}

/** Whether a name of a query or a cookie belongs to a parameter or an API key, so that no other object takes it. */
function claims (place: string, parameters: Parameter[], schemas: Schemas, schemes: Schemes) {
  const keys = Object.values(schemes).filter(scheme => scheme.in === place).map(({ name }) => name)
  const names = parameters.flatMap(parameter => {
    const shape = shapeOf(parameter.schema as Schema, schemas)
    return hasSpreadMembers(parameter, shape) ? [...shape.names] : [parameter.name]
  })
  const claimed = new Set<string | undefined>([...keys, ...names])
  const deep = new Set(parameters.filter(({ style }) => style === 'deepObject').map(({ name }) => name))
  return (name: string) => claimed.has(name) || deep.has(name.slice(0, Math.max(name.indexOf('['), 0)))
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
      return names.map((name, position): [string, string[]] => [name, [found[position + 1] as string]])
    }))
    return textsFrom(texts)
  }
}

/** A segment with its encoded text decoded, except for separators and percent signs. */
function withTextDecoded (segment: string): string {
  return segment.replace(/(?:%(?!25)[\da-f]{2})+/gi, decodeURI)
}

/**
 * A function from the texts of a place to the value of a parameter; undefined for a missing optional parameter.
 * @param isClaimed whether another parameter has a name
 * @throws HttpError when the schema refuses the default
 */
export function valueReader (
  parameter: Parameter,
  schemas: Schemas,
  compile: Compile,
  isClaimed: (name: string) => boolean = Boolean
): (texts: Texts) => unknown {
  const label = labelOf(parameter)
  const validate = compile(parameter.schema)
  const jsonOf = parameter.isJson === true
    ? contentJson(parameter)
    : styledJson(parameter, shapeOf(parameter.schema as Schema, schemas), isClaimed)
  const { default: value } = parameter
  const readDefault = () => value === undefined ? undefined : readFirst([() => JSON.stringify(value)], validate, label)
  return texts => {
    const candidates = isUnused(parameter, texts) ? [] : jsonOf(texts)
    if (candidates.length > 0) return readFirst(candidates, validate, label)
    if (parameter.required) throw new HttpError(400, `${label} is missing.`)
    return readDefault()
  }
}

function labelOf ({ in: place, name }: Parameter): string {
  const kinds: Readonly<Record<string, string>> = { header: 'header field', cookie: 'cookie' }
  return `The ${kinds[place] ?? `${place} parameter`} "${name}"`
}

/** An empty text stands for no value (OpenAPI 3.1.1, section 4.8.12.2.1, allowEmptyValue). */
function isUnused ({ name, required, allowEmptyValue = false }: Parameter, texts: Texts): boolean {
  return allowEmptyValue && !required && texts.of(name).length === 1 && texts.of(name)[0] === ''
}

/** Returns a JSON text that may be the value, or why there is none. */
type Candidate = () => string | Fault

/** Returns the candidates in the order of preference, none for a parameter that is not sent. */
function styledJson (parameter: Parameter, shape: Shape, isClaimed: (name: string) => boolean) {
  const readers = styleReaders(parameter, shape, isClaimed)
  // Nothing is sent for an object without members, so it cannot be missing.
  const unsent: Sent[] = parameter.required && hasSpreadMembers(parameter, shape) ? [{ tree: new Map() }] : []
  return (texts: Texts): Candidate[] => {
    const sent = readers.map(read => read(texts)).filter(sent => sent !== undefined)
    return (sent.length === 0 ? unsent : sent).flatMap(({ tree, fault }): Candidate[] => {
      // Prefers a number to a string where the schema allows both.
      return fault ? [() => fault] : [false, true].map(prefersText => () => toJson(tree, shape, prefersText))
    })
  }
}

function contentJson ({ name, in: place }: Parameter) {
  return (texts: Texts): Candidate[] => {
    const sent = texts.of(name)
    if (sent.length > 1) return [() => ({ path: '', problem: repeated })]
    return sent.map(text => () => decodeText(text, place))
  }
}

/** Returns the first valid candidate. Parsing it as JSON keeps integers exact. */
function readFirst (candidates: Candidate[], validate: Validate, label: string): unknown {
  const faults: Fault[] = []
  for (const candidate of candidates) {
    const json = candidate()
    const result = typeof json === 'string' ? readJson(validate, Buffer.from(json)) : { fault: json }
    if (result.fault === undefined) return result.value
    faults.push(result.fault)
  }
  const [{ path, problem }] = faults as [Fault]
  throw new HttpError(400, `${label}${path && ` at ${path}`} ${problem}.`)
}
