// Emits the types that check handlers and answers.
import openapiTS, { astToString } from 'openapi-typescript'
import type { Oas3Operation } from '@redocly/openapi-core'
import type { OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { escapedKey, isFileSchema, valueAt } from '../schema/index.ts'
import type { Schema } from '../schema/index.ts'
import { defaultOf, isIgnored, listOperations, resolve, valueOf, withoutExtensions } from './description.ts'
import type { Description, Parameter } from './description.ts'

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
const blob = ts.factory.createTypeReferenceNode('Blob')
const nullType = ts.factory.createLiteralTypeNode(ts.factory.createNull())

/**
 * The types of a bundled description, as TypeScript source. An integer of format int64 is a `bigint`, as at run time:
 * a `number` cannot hold it (OpenAPI 3.1, section 4.4 and its format registry). A file is a `Blob`, as clients send it.
 */
export async function emitTypes (document: Description): Promise<string> {
  return astToString(await openapiTS(asReceived(document) as OpenAPI3, {
    // Members with a default stay optional, because nothing fills them in.
    defaultNonNullable: false,
    // Marks members that only one side sends: src/contract/body-types.ts removes them from requests or answers.
    readWriteMarkers: /"(?:read|write)Only": ?true/.test(JSON.stringify(document)),
    silent: true,
    transform (given) {
      const schema = given as Schema
      const types = [schema.type].flat()
      const isInteger = schema.format === 'int64' && (types.includes('integer') || types.includes('number'))
      if (!isInteger && !isFileSchema(schema)) return undefined
      const type = isInteger ? bigint : blob
      return types.includes('null') ? ts.factory.createUnionTypeNode([type, nullType]) : type
    }
  }))
}

/** A copy with parameters as handlers get them: required where they have a default, and without ignored ones. */
function asReceived (document: Description): Description {
  const copy = structuredClone(document)
  // openapi-typescript takes an extension for a response.
  for (const { operation } of listOperations(copy)) operation.responses = withoutExtensions(operation.responses)
  for (const header of listOperations(copy).flatMap(({ operation }) => headersOf(copy, operation))) {
    describeBySchema(header)
  }
  for (const owner of new Set(listOperations(copy).flatMap(({ item, operation }) => [item, operation]))) {
    if (owner.parameters === undefined) continue
    owner.parameters = owner.parameters.filter(parameter => !isIgnored(resolve<Parameter>(copy, parameter)))
    for (const parameter of owner.parameters.map(parameter => resolve<Parameter>(copy, parameter))) {
      describeBySchema(parameter)
      if (defaultOf(copy, parameter.schema as object) !== undefined) parameter.required = true
    }
  }
  // What has no types may be malformed.
  const { openapi, paths, webhooks, components: { securitySchemes, ...components } = {} } = copy
  const own = withoutExtensions(paths ?? {})
  const typed = { openapi, info: { title: '', version: '' }, paths: own, ...webhooks && { webhooks }, components }
  return withParts(typed as Description)
}

/**
 * A copy in which each part of a component schema that a reference names is a component of its own: openapi-typescript
 * finds only members of objects.
 */
function withParts (document: Description): Description {
  const parts = new Map<string, string>()
  const copy = JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key !== '$ref' || typeof value !== 'string' || !/^#\/components\/schemas\/[^/]+\//.test(value)) return value
    const name = value.replace('#/components/schemas/', '')
    parts.set(name, value)
    return `#/components/schemas/${escapedKey(name)}`
  }) as Description
  const { schemas } = Object(copy.components) as { schemas: Record<string, unknown> }
  for (const [name, pointer] of parts) schemas[name] = valueAt(copy, pointer.slice(1))
  return copy
}

function headersOf (document: Description, { responses }: Oas3Operation): Value[] {
  const headers = Object.values(responses).flatMap(response => Object.values(resolve(document, response).headers ?? {}))
  return headers.map(header => resolve<Value>(document, header as Value))
}

type Value = Parameters<typeof valueOf>[0]

/** openapi-typescript types the media types of a parameter or header field otherwise than its schema. */
function describeBySchema (value: Value): void {
  if (value.content === undefined) return
  value.schema = valueOf(value).schema
  delete value.content
}
