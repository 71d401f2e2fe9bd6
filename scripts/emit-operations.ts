// The contract as data: for each operation what the service registers, and the JSON Schemas that the operations refer to.
import type { Oas3Server } from '@redocly/openapi-core'
import type { Contract, Operation, Parameter as ContractParameter, Response, SecurityScheme, Server } from '../src/contract/index.ts'
import { mapSubschemas } from '../src/contract/schema/index.ts'
import type { Schema } from '../src/contract/schema/index.ts'
import { defaultOf, discriminators, isIgnored, listOperations, resolve } from './description.ts'
import type { Description, Discriminated, Parameter } from './description.ts'

type Content = { content?: Record<string, { schema?: object }> }
type Header = { required?: boolean, schema?: object }

/** What the service registers of a bundled description. Every component schema becomes a document with its name. */
export function toContract (document: Description): Contract {
  const { schemas = {}, securitySchemes = {} } = document.components as NonNullable<Description['components']>
  const distinctions = discriminators(document)
  const toSchema = (name: string, schema: unknown) => withDiscriminator(localized(schema) as object, distinctions.get(`#/components/schemas/${name}`))
  return {
    server: toServer(document.servers),
    operations: Object.fromEntries(listOperations(document).map(listed => [listed.operation.operationId, toOperation(document, listed)])),
    schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toSchema(name, schema)])),
    securitySchemes: Object.fromEntries(Object.entries(securitySchemes).map(([name, scheme]) => [name, toSecurityScheme(resolve(document, scheme as SecurityScheme))]))
  }
}

/** How credentials are sent; the rest of a scheme is for people. */
function toSecurityScheme ({ type, scheme, name, in: place }: SecurityScheme): SecurityScheme {
  return { type, ...scheme !== undefined && { scheme }, ...name !== undefined && { name }, ...place !== undefined && { in: place } }
}

/** A schema with references to components as the service resolves them: `Name#`. */
function localized (schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, ...rest } = mapSubschemas(schema as Schema, (_keyword, inner) => localized(inner))
  return typeof $ref === 'string' ? { $ref: $ref.replace(/^#\/components\/schemas\/([^/]+)/, '$1#'), ...rest } : rest
}

/** The contract as TypeScript source: a constant for each of its parts. */
export function emitOperations (contract: Contract): string {
  return Object.entries(contract).map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)} as const\n`).join('\n')
}

/** The whole description as TypeScript source, for /docs. */
export function emitDocument (document: Description): string {
  return `export const document = ${JSON.stringify(document, null, 2)}\n`
}

/** The first server (OpenAPI 3.1, section 4.8.5); without any it is `/`. */
function toServer ([server]: Oas3Server[] = []): Server {
  const variables = Object.entries(server?.variables ?? {}).map(([name, variable]) => [name, variable.default])
  return { url: server?.url ?? '/', variables: Object.fromEntries(variables) }
}

function toOperation (document: Description, { url, method, item, operation }: ReturnType<typeof listOperations>[number]): Operation {
  const servers = operation.servers ?? item.servers
  return {
    method: method.toUpperCase(),
    url,
    ...servers && { server: toServer(servers) },
    // The rule `supported` requires one of the two: no operation is open by omission.
    security: (operation.security ?? document.security) as Operation['security'],
    parameters: toParameters(document, [...item.parameters ?? [], ...operation.parameters ?? []]),
    ...operation.requestBody && { body: toBody(resolve(document, operation.requestBody)) },
    responses: Object.fromEntries(Object.entries(operation.responses).map(([status, response]: [string, object]) =>
      [status, toResponse(document, resolve(document, response))]))
  }
}

/** Parameters of the path and of the operation; the operation's override those of the path (OpenAPI 3.1, section 4.8.10). */
function toParameters (document: Description, given: object[]): ContractParameter[] {
  const parameters = given.map(parameter => resolve<Parameter>(document, parameter as Parameter)).filter(parameter => !isIgnored(parameter))
  const byKey = new Map(parameters.map(parameter => [`${parameter.in} ${parameter.name}`, parameter]))
  return Array.from(byKey.values(), ({ name, in: place = '', required = false, explode = true, schema = {} }) => {
    const value = defaultOf(document, schema)
    return { name, in: place, required, explode, schema: localized(schema) as object, ...value !== undefined && { default: value } }
  })
}

function toBody ({ required = false, content = {} }: Content & { required?: boolean }) {
  return { required, types: Object.keys(content).map(mediaType), schema: jsonSchema(content) }
}

function toResponse (document: Description, { content = {}, headers = {} }: Content & { headers?: Record<string, object> }): Response {
  const [type] = Object.keys(content)
  const fields = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-type').map(([name, header]) => {
    const { required = false, schema = {} } = resolve<Header>(document, header)
    return [name, { required, schema: localized(schema) as object }]
  })
  return {
    ...type !== undefined && { type: mediaType(type), schema: jsonSchema(content) },
    ...fields.length > 0 && { headers: Object.fromEntries(fields) }
  }
}

/** Without parameters: all bodies are UTF-8. */
function mediaType (key: string): string {
  return key.replace(/\s*;.*$/s, '').toLowerCase()
}

function jsonSchema (content: Record<string, { schema?: object }>): object {
  return localized(Object.values(content)[0]?.schema ?? {}) as object
}

/** A schema with the values of its discriminator, as its TypeScript type has them. They come first, so that they are the first to fail. */
function withDiscriminator (schema: object, by: Discriminated | undefined): object {
  if (by === undefined) return schema
  const { property, values } = by
  const { allOf = [] } = schema as { allOf?: object[] }
  return { ...schema, allOf: [{ type: 'object', required: [property], properties: { [property]: { enum: values } } }, ...allOf] }
}
