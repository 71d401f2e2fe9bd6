// Emits the operations and JSON Schemas that the service registers.
import type { Oas3Server } from '@redocly/openapi-core'
import { isSchemaObject, mapSubschemas, mapValues, pick, type Schema } from '../../schema/index.ts'
import type {
  Body, Content, Contract, Encoding, Header, Media, Operation, Parameter as ContractParameter,
  Response, SecurityScheme, Server
} from '../../types/contract.ts'
import {
  defaultOf, type Description, fieldsOfEngine, hasIgnoredBody, type ListedOperation,
  listOperations, type Parameter, parametersOf, resolve, valueOf, withoutExtensions
} from '../description/description.ts'
import { deprecationFields } from '../description/deprecation.ts'
import { type Distinction, distinctionsIn } from '../description/discriminators.ts'
import { keywords } from '../description/normalize.ts'
import { toUnicodePattern } from '../description/patterns.ts'

/** What the service registers. Every component schema becomes a document with its name. */
export function toContract (document: Description): Contract {
  const { schemas = {}, securitySchemes = {} } = document.components as
    { schemas?: Record<string, object>, securitySchemes?: Record<string, SecurityScheme> }
  const distinctions = distinctionsIn(document)
  const operations = listOperations(document).map(listed => {
    return [listed.operation.operationId, toOperation(document, listed)]
  })
  return {
    server: toServer(document.servers),
    operations: Object.fromEntries(operations),
    schemas: mapValues(schemas, (schema, name) => {
      const distinction = distinctions.get(`#/components/schemas/${name}`)
      return withDiscriminator(localized(schema), distinction)
    }),
    securitySchemes: mapValues(securitySchemes, scheme => {
      const { type, scheme: name, name: field, in: place } = resolve(document, scheme)
      return defined<SecurityScheme>({ type, scheme: name, name: field, in: place })
    }),
    skipped: []
  }
}

/** An object without the members that are undefined. */
function defined<Type> (values: { [Name in keyof Type]: Type[Name] | undefined }): Type {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Type
}

/** Rewrites references to components as `Name#`, and drops what does not validate. */
function localized (schema: unknown): object {
  if (!isSchemaObject(schema)) return schema as object
  const copy: Record<string, unknown> = {}
  const words = mapSubschemas(schema, (_keyword, inner) => localized(inner))
  const { $ref, enum: values } = words
  if (typeof $ref === 'string') {
    copy.$ref = $ref.replace(/^#\/components\/schemas\/([^/]+)/, '$1#')
  }
  for (const [word, value] of Object.entries(words)) {
    // The message for a text that its pattern refuses quotes the description.
    const isRead = keywords.has(word) || (word === 'description' && 'pattern' in schema)
    if (isRead && word !== '$ref' && word !== 'enum') copy[word] = toValid(word, value)
  }
  return Array.isArray(values) ? { ...copy, ...toEnum(values) } : copy
}

/** What JSON Schema 2020-12 refuses although its meaning is clear, in the form that it takes. */
function toValid (word: string, value: unknown): unknown {
  if (word === 'required' && Array.isArray(value)) return [...new Set(value)]
  if (word === 'pattern' && typeof value === 'string') return toUnicodePattern(value)
  if (word !== 'patternProperties' || !isSchemaObject(value)) return value
  const members = new Map<string, unknown>()
  for (const [name, member] of Object.entries(value)) {
    const pattern = toUnicodePattern(name)
    const same = members.get(pattern)
    members.set(pattern, same === undefined ? member : { allOf: [same, member] })
  }
  return Object.fromEntries(members)
}

/** JSON Schema 2020-12 validation, 6.1.2, allows what ajv does not: no value, and a value twice. */
function toEnum (values: unknown[]): Schema {
  return values.length === 0 ? { not: {} } : { enum: [...new Set(values)] }
}

/** Adds the discriminator's values to a schema, first, so that their error comes first. */
function withDiscriminator (schema: object, distinction: Distinction | undefined): object {
  if (distinction === undefined) return schema
  const { allOf = [] } = schema as { allOf?: object[] }
  return { ...schema, allOf: [discriminatorTag(distinction), ...allOf] }
}

/** A schema for the discriminator property of a schema. */
export function discriminatorTag ({ property, values, isDefault }: Distinction): Schema {
  const own = { enum: values }
  if (isDefault) return { type: 'object', properties: { [property]: { not: own } } }
  return { type: 'object', required: [property], properties: { [property]: own } }
}

/** The contract as TypeScript source: a constant for each of its parts. */
export function emitOperations (contract: Contract): string {
  const constants = Object.entries(contract).map(([name, value]) => {
    return `export const ${name} = ${toLiteral(value)} as const\n`
  })
  return constants.join('\n')
}

/** The whole description as TypeScript source, for /docs. */
export function emitDocument (document: Description): string {
  // Without a type, the compiler refuses a list of objects of which one has a member toString.
  const others = '[name: string]: unknown'
  const type = `{ info: { title: string, ${others} }, ${others} }`
  return `export const document: ${type} = ${toLiteral(document)}\n`
}

/**
 * The door of the generated files, as TypeScript source: the contract with its types.
 * @param extension of the imports of the files beside it
 */
export function emitDoor (extension: '.ts' | '.js'): string {
  return `import type * as engine from 'fastify-openapi-contract'
import { document } from './document${extension}'
import * as parts from './operations${extension}'
import type { components, operations } from './types${extension}'

export type { components, operations } from './types${extension}'

type Parts = typeof parts
/** An interface: the compiler prints its name alone. */
interface Schemes extends Readonly<Parts['securitySchemes']> {}

/** The contract, as serveContract() takes it. */
export const contract: engine.ServedContract<operations, Parts> = { ...parts, document }

/** A handler for each operation, and for no other. */
export type Handlers =
  engine.Handlers<operations, keyof operations & keyof Parts['operations'], Schemes>
/** The handlers of the operations with this first tag; \`undefined\` for those without a tag. */
export type HandlersTagged<Tag extends engine.FirstTags<Parts>> =
  engine.HandlersTagged<operations, Parts, Tag>
/** The handler of an operation, what it gets, and what it may return. */
export type Handler<Id extends keyof operations> = engine.Handler<operations, Id, Schemes>
export type Request<Id extends keyof operations> = engine.Request<operations, Id, Schemes>
export type Answer<Id extends keyof operations> = engine.Answer<operations, Id>
/** A value of a schema, as handlers give it: without the members that are writeOnly. */
export type Schema<Name extends keyof components['schemas']> =
  engine.ResponseValue<components['schemas'][Name]>
/** A verifier for each security scheme. */
export type Verifiers = engine.Verifiers<Schemes>
`
}

/** In a literal, `"__proto__":` sets the prototype; an example may have such a member. */
function toLiteral (value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^( *)"__proto__":/gm, '$1["__proto__"]:')
}

/** The first server (OpenAPI 3.1, section 4.8.5); without any it is `/`. */
export function toServer ([server]: Oas3Server[] = []): Server {
  return {
    url: server?.url ?? '/',
    variables: mapValues(server?.variables ?? {}, variable => variable.default)
  }
}

/** Where an operation is. */
export function toAddress (
  { url, method, item, operation }: ListedOperation
): Pick<Operation, 'method' | 'url' | 'server'> {
  const servers = operation.servers ?? item.servers
  return defined({ method: method.toUpperCase(), url, server: servers && toServer(servers) })
}

function toOperation (document: Description, listed: ListedOperation): Operation {
  const { operation } = listed
  const { tags, requestBody } = operation
  const extensions = pick({ ...operation }, name => name.startsWith('x-'))
  const ignoresBody = hasIgnoredBody(listed)
  return defined<Operation>({
    ...toAddress(listed),
    // What only describes may have any form.
    tags: Array.isArray(tags) && tags.length > 0 ? tags : undefined,
    extensions: Object.keys(extensions).length > 0 ? extensions : undefined,
    // Without any, the linter refuses the operation, or the contract's owner opens it.
    security: (operation.security ?? document.security ?? []) as Operation['security'],
    parameters: parametersOf(document, listed).map(one => toParameter(document, one)),
    body: requestBody && !ignoresBody
      ? toBody(resolve<Partial<Body>>(document, requestBody))
      : undefined,
    ignoresBody: ignoresBody || undefined,
    fields: deprecationFields(operation),
    responses: mapValues(withoutExtensions(operation.responses), response => {
      return toResponse(document, resolve<ResponseObject>(document, response))
    })
  })
}

function toParameter (document: Description, parameter: Parameter): ContractParameter {
  const { name, in: place = '', required = false, content, allowEmptyValue } = parameter
  const ofPlace = place === 'query' || place === 'cookie' ? 'form' : 'simple'
  const { schema, isJson, form } = valueOf(parameter as Parameters<typeof valueOf>[0])
  const ofContent = form === undefined ? 'simple' : 'form'
  // The text of a media type other than JSON and forms is a text in style simple.
  const style = content === undefined ? parameter.style ?? ofPlace : ofContent
  return defined<ContractParameter>({
    name,
    in: place,
    required,
    style,
    explode: parameter.explode ?? style === 'form',
    schema: localized(schema),
    isJson: isJson || undefined,
    form: form && defined<Media>({ encoding: toEncodings(form.encoding) }),
    allowEmptyValue: allowEmptyValue || undefined,
    default: defaultOf(document, schema)
  })
}

/** Without media types there is no body that could be sent. */
function toBody ({ required = false, content = {} }: Partial<Body>): Body | undefined {
  return Object.keys(content).length === 0 ? undefined : { required, content: toContent(content) }
}

/** The media types, with what reading and writing them needs. */
function toContent (content: Content): Content {
  return mapValues(content, ({ schema, encoding }) => defined<Media>({
    schema: schema && localized(schema),
    encoding: toEncodings(encoding)
  }))
}

function toEncodings (given: Media['encoding']): Media['encoding'] {
  return given && mapValues(given, ({ contentType, style, explode }) => {
    return defined<Encoding>({ contentType, style, explode })
  })
}

interface ResponseObject { content?: Content, headers?: Record<string, object> }

function toResponse (
  document: Description,
  { content = {}, headers = {} }: ResponseObject
): Response {
  const declared = pick(headers, name => !fieldsOfEngine.includes(name.toLowerCase()))
  const fields = mapValues(declared, header => toHeader(resolve<HeaderObject>(document, header)))
  return defined<Response>({
    content: Object.keys(content).length > 0 ? toContent(content) : undefined,
    headers: Object.keys(fields).length > 0 ? fields : undefined
  })
}

type HeaderObject = Partial<Pick<Header, 'required' | 'schema' | 'explode'>> & { content?: Content }

function toHeader (header: HeaderObject): Header {
  const { required = false, explode } = header
  const { schema, isJson } = valueOf(header)
  return defined<Header>({
    required,
    schema: localized(schema),
    explode: explode || undefined,
    isJson: isJson || undefined
  })
}
