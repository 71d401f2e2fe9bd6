// The contract as data: per operation what the service registers, and the JSON Schemas that the operations refer to.
import type { Oas3Server } from '@redocly/openapi-core'
import { mapSubschemas } from '../src/contract/schema/schemas.ts'
import type { Schema } from '../src/contract/schema/schemas.ts'
import type { Contract, Operation, Parameter as ContractParameter, Response, SecurityScheme, Server } from '../src/contract/types.ts'
import { discriminators, isIgnored, listOperations, resolve } from './description.ts'
import type { Description, Discriminated, Parameter } from './description.ts'

type Content = { content?: Record<string, { schema?: object }> }
type Header = { required?: boolean, schema?: object }

/** What the service registers of a bundled description. Every schema becomes a document of its own, named as its component. */
export function toContract (document: Description): Contract {
  const { schemas = {}, securitySchemes = {} } = document.components as NonNullable<Description['components']>
  const tellers = discriminators(document)
  const contract = {
    server: toServer(document.servers),
    operations: Object.fromEntries(listOperations(document).map(listed => [listed.operation.operationId, toOperation(document, listed)])),
    schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toldApart(localized(schema) as object, tellers.get(`#/components/schemas/${name}`))])),
    securitySchemes: Object.fromEntries(Object.entries(securitySchemes).map(([name, scheme]) => [name, resolve(document, scheme as SecurityScheme)]))
  }
  return contract
}

/** A schema whose references to components say where the service finds them: `Name#`. */
function localized (schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, ...rest } = mapSubschemas(schema as Schema, (_keyword, inner) => localized(inner))
  return typeof $ref === 'string' ? { $ref: $ref.replace(/^#\/components\/schemas\/([^/]+)/, '$1#'), ...rest } : rest
}

/** The contract as TypeScript source: a constant for each of its parts. */
export function emitOperations (contract: Contract): string {
  return Object.entries(contract).map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)} as const\n`).join('\n')
}

/** The whole description, as TypeScript source, for whoever reads the contract at run time. */
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
    // The rule `supported` sees to it that one of the two is there: nothing is open by omission.
    security: (operation.security ?? document.security) as Operation['security'],
    parameters: toParameters(document, [...item.parameters ?? [], ...operation.parameters ?? []]),
    ...operation.requestBody && { body: toBody(resolve(document, operation.requestBody)) },
    responses: Object.fromEntries(Object.entries(operation.responses).map(([status, response]: [string, object]) =>
      [status, toResponse(document, resolve(document, response))]))
  }
}

/** Parameters of the path and of the operation; of two with the same name and place the latter counts (OpenAPI 3.1, section 4.8.10). */
function toParameters (document: Description, given: object[]): ContractParameter[] {
  const parameters = given.map(parameter => resolve<Parameter>(document, parameter as Parameter)).filter(parameter => !isIgnored(parameter))
  const byKey = new Map(parameters.map(parameter => [`${parameter.in} ${parameter.name}`, parameter]))
  return Array.from(byKey.values(), ({ name, in: place = '', required = false, explode = true, schema = {} }) =>
    ({ name, in: place, required, explode, schema: localized(schema) as object }))
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

/** A schema that a discriminator tells from others says by what, as its TypeScript type does. It comes first, so that it is the first to fail. */
function toldApart (schema: object, by: Discriminated | undefined): object {
  if (by === undefined) return schema
  const { property, values } = by
  const { allOf = [] } = schema as { allOf?: object[] }
  return { ...schema, allOf: [{ type: 'object', required: [property], properties: { [property]: { enum: values } } }, ...allOf] }
}
