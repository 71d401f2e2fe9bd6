// Emits the operations and JSON Schemas that the service registers.
import type { Oas3Server } from '@redocly/openapi-core'
import type {
  Body, Content, Contract, Encoding, Media, Operation, Parameter as ContractParameter, Response, SecurityScheme, Server,
  SkippedOperation
} from '../types.ts'
import { routed } from '../message/paths.ts'
import { isSchemaObject, mapSubschemas } from '../schema/index.ts'
import type { Schema } from '../schema/index.ts'
import {
  defaultOf, discriminators, extensionsOf, fieldsOfEngine, isIgnored, listOperations, resolve, valueOf,
  withoutExtensions
} from './description.ts'
import type { Description, Discriminated, Parameter } from './description.ts'
import { keywords } from './normalize.ts'
import { pathFault, refuseOwnPath } from './unsupported.ts'

type Listed = ReturnType<typeof listOperations>[number]
type Header = { required?: boolean, explode?: boolean, schema?: object, content?: Content }

/** The parts of a description that the service registers. Every component schema becomes a document with its name. */
export function toContract (document: Description): Contract {
  const { schemas = {}, securitySchemes = {} } = document.components as NonNullable<Description['components']>
  const distinctions = discriminators(document)
  const operations = listOperations(document).map(listed => {
    return [listed.operation.operationId, toOperation(document, listed)]
  })
  return {
    server: toServer(document.servers),
    operations: Object.fromEntries(operations),
    schemas: mapValues(schemas, (schema, name) => {
      return withDiscriminator(localized(schema) as object, distinctions.get(`#/components/schemas/${name}`))
    }),
    securitySchemes: mapValues(securitySchemes, scheme => toSecurityScheme(resolve(document, scheme as SecurityScheme))),
    skipped: []
  }
}

function mapValues<To> (values: object, change: (value: object, name: string) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]))
}

/** How credentials are sent; the rest of a scheme is for people. */
function toSecurityScheme ({ type, scheme, name, in: place }: SecurityScheme): SecurityScheme {
  return {
    type,
    ...scheme !== undefined && { scheme },
    ...name !== undefined && { name },
    ...place !== undefined && { in: place }
  }
}

/** Rewrites references to components as `Name#`, and drops what does not validate. */
function localized (schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema
  const words = Object.entries(mapSubschemas(schema, (_keyword, inner) => localized(inner)))
  // The message for a text that its pattern refuses quotes the description.
  const isRead = (word: string) => keywords.has(word) || (word === 'description' && 'pattern' in schema)
  const { $ref, enum: values, ...rest } = Object.fromEntries(words.filter(([word]) => isRead(word))) as Schema
  return {
    ...typeof $ref === 'string' && { $ref: $ref.replace(/^#\/components\/schemas\/([^/]+)/, '$1#') },
    ...rest,
    ...Array.isArray(values) && toEnum(values)
  }
}

/** JSON Schema 2020-12 validation, section 6.1.2, allows what ajv does not: no value, and a value twice. */
function toEnum (values: unknown[]): Schema {
  return values.length === 0 ? { not: {} } : { enum: [...new Set(values)] }
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
  return `export const document = ${toLiteral(document)}\n`
}

/** In a literal, `"__proto__":` sets the prototype; an example or a constant may have such a member. */
function toLiteral (value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^( *)"__proto__":/gm, '$1["__proto__"]:')
}

/** The first server (OpenAPI 3.1, section 4.8.5); without any it is `/`. */
function toServer ([server]: Oas3Server[] = []): Server {
  const variables = Object.entries(server?.variables ?? {}).map(([name, variable]) => [name, variable.default])
  return { url: server?.url ?? '/', variables: Object.fromEntries(variables) }
}

/** Where an operation is. */
function toAddress ({ url, method, item, operation }: Listed): Pick<Operation, 'method' | 'url' | 'server'> {
  const servers = operation.servers ?? item.servers
  return { method: method.toUpperCase(), url, ...servers && { server: toServer(servers) } }
}

export function toSkipped (document: Description, listed: Listed, reason: string): SkippedOperation {
  const address = toAddress(listed)
  return { ...address, reason, isReachable: isReachable(address, document) }
}

/** An operation may be skipped for another reason than its path. */
function isReachable (address: ReturnType<typeof toAddress>, { servers }: Description): boolean {
  try {
    const { template } = routed(address, toServer(servers), {})
    const paths = [address.url, template]
    for (const path of paths) refuseOwnPath(decodeURI(path))
    return paths.every(path => path.startsWith('/') && pathFault(path) === undefined)
  } catch {
    return false
  }
}

function toOperation (document: Description, listed: Listed): Operation {
  const { item, operation } = listed
  const extensions = extensionsOf(operation)
  return {
    ...toAddress(listed),
    ...operation.tags !== undefined && operation.tags.length > 0 && { tags: operation.tags },
    ...Object.keys(extensions).length > 0 && { extensions },
    // Without any, `supported` refuses the operation, or the contract's owner opens it.
    security: (operation.security ?? document.security ?? []) as Operation['security'],
    parameters: toParameters(document, [...item.parameters ?? [], ...operation.parameters ?? []]),
    ...toBody(document, operation),
    responses: mapValues(withoutExtensions(operation.responses), response => {
      return toResponse(document, resolve(document, response))
    })
  }
}

/** Parameters of a path and then its operation; later ones override earlier ones (OpenAPI 3.1, section 4.8.10). */
function toParameters (document: Description, given: object[]): ContractParameter[] {
  const resolved = given.map(parameter => resolve<Parameter>(document, parameter as Parameter))
  const parameters = resolved.filter(parameter => !isIgnored(parameter))
  const byKey = new Map(parameters.map(parameter => [`${parameter.in} ${parameter.name}`, parameter]))
  return Array.from(byKey.values(), parameter => toParameter(document, parameter))
}

const defaultStyles: Readonly<Record<string, string>> = { query: 'form', cookie: 'form' }

function toParameter (document: Description, parameter: Parameter): ContractParameter {
  const { name, in: place = '', required = false, content, allowEmptyValue = false } = parameter
  // The text of a media type other than JSON is a text in style simple.
  const style = content === undefined ? parameter.style ?? defaultStyles[place] ?? 'simple' : 'simple'
  const { schema, isJson } = valueOf(parameter)
  const value = defaultOf(document, schema)
  return {
    name,
    in: place,
    required,
    style,
    explode: parameter.explode ?? style === 'form',
    schema: localized(schema) as object,
    ...isJson && { isJson },
    ...allowEmptyValue && { allowEmptyValue },
    ...value !== undefined && { default: value }
  }
}

/** Without media types there is no body that could be sent. */
function toBody (document: Description, { requestBody }: Listed['operation']): { body?: Body } {
  const { required = false, content = {} } = requestBody === undefined ? {} : resolve<Partial<Body>>(document, requestBody)
  return Object.keys(content).length === 0 ? {} : { body: { required, content: toContent(content) } }
}

/** The media types, with what reading and writing them needs. */
function toContent (content: Content): Content {
  return mapValues(content, ({ schema, encoding }: Media): Media => ({
    ...schema !== undefined && { schema: localized(schema) as object },
    ...encoding !== undefined && { encoding: mapValues(encoding, toEncoding) }
  }))
}

function toEncoding ({ contentType, style, explode }: Encoding): Encoding {
  return {
    ...contentType !== undefined && { contentType },
    ...style !== undefined && { style },
    ...explode !== undefined && { explode }
  }
}

interface ResponseObject { content?: Content, headers?: Record<string, object> }

function toResponse (document: Description, { content = {}, headers = {} }: ResponseObject): Response {
  const declared = Object.entries(headers).filter(([name]) => !fieldsOfEngine.includes(name.toLowerCase()))
  const fields = declared.map(([name, header]) => {
    const resolved = resolve<Header>(document, header)
    const { required = false, explode = false } = resolved
    const { schema, isJson } = valueOf(resolved)
    return [name, { required, schema: localized(schema) as object, ...explode && { explode }, ...isJson && { isJson } }]
  })
  return {
    ...Object.keys(content).length > 0 && { content: toContent(content) },
    ...fields.length > 0 && { headers: Object.fromEntries(fields) }
  }
}

/** Adds the discriminator's values to a schema, first, so that their error comes first. */
function withDiscriminator (schema: object, by: Discriminated | undefined): object {
  if (by === undefined) return schema
  const { property, values } = by
  const { allOf = [] } = schema as { allOf?: object[] }
  const tag = { type: 'object', required: [property], properties: { [property]: { enum: values } } }
  return { ...schema, allOf: [tag, ...allOf] }
}
