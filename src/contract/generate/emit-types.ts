// Emits the types that check handlers and answers.
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { escapedKey, isFileSchema, isInt64, type Schema, valueAt } from '../schema/index.ts'
import {
  defaultOf, type Description, hasIgnoredBody, isIgnored, type ListedOperation, listOperations,
  type Parameter, resolve, valueOf, visitValues, withoutExtensions
} from './description.ts'

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
const blob = ts.factory.createTypeReferenceNode('Blob')
const nullType = ts.factory.createLiteralTypeNode(ts.factory.createNull())

/**
 * The types of a bundled description, as TypeScript source. An integer of format int64 is a
 * `bigint`, as at run time: a `number` cannot hold it (OpenAPI 3.1, section 4.4 and its format
 * registry). A file is a `Blob`, as clients send it.
 */
export async function emitTypes (document: Description): Promise<string> {
  const text = astToString(await openapiTS(toTyped(document) as OpenAPI3, {
    // Members with a default stay optional, because nothing fills them in.
    defaultNonNullable: false,
    // Marks members that only one side sends: types/body.ts removes them from the other side.
    readWriteMarkers: /"(?:read|write)Only": ?true/.test(JSON.stringify(document)),
    silent: true,
    transform (given) {
      const schema = given as Schema
      if (!isInt64(schema) && !isFileSchema(schema)) return undefined
      const type = isInt64(schema) ? bigint : blob
      const isNullable = [schema.type].flat().includes('null')
      return isNullable ? ts.factory.createUnionTypeNode([type, nullType]) : type
    }
  }))
  return text.replace(/^type WithRequired<.*?^};$/ms, withRequired)
}

/** openapi-typescript's helper for what an allOf requires, here also of what may be null. */
const withRequired = `type WithRequired<T, K extends keyof NonNullable<T>> = T & {
    [P in K]-?: NonNullable<T>[P];
};`

/** A copy of what has types, as handlers get it; what has none may be malformed. */
function toTyped (document: Description): Description {
  const copy = structuredClone(document)
  for (const listed of listOperations(copy)) {
    if (hasIgnoredBody(listed)) delete listed.operation.requestBody
    changeParameters(copy, listed)
    changeResponses(copy, listed)
  }
  const { openapi, paths = {}, webhooks = {}, components = {} } = copy
  delete components.securitySchemes
  const typed = { openapi, info: { title: '', version: '' }, paths: withoutExtensions(paths) }
  return addParts({ ...typed, webhooks, components } as Description)
}

/** Requires parameters with a default, and removes those that OpenAPI ignores. */
function changeParameters (document: Description, { item, operation }: ListedOperation): void {
  for (const owner of [item, operation]) {
    const parameters: Parameter[] = []
    for (const given of owner.parameters ?? []) {
      const parameter = resolve<Parameter>(document, given)
      if (isIgnored(parameter)) continue
      parameters.push(given as Parameter)
      describeBySchema(parameter)
      const hasDefault = defaultOf(document, parameter.schema as object) !== undefined
      if (hasDefault) parameter.required = true
    }
    if (owner.parameters !== undefined) owner.parameters = parameters
  }
}

function changeResponses (document: Description, { operation }: ListedOperation): void {
  // openapi-typescript takes an extension for a response.
  operation.responses = withoutExtensions(operation.responses)
  for (const response of Object.values(operation.responses)) {
    for (const header of Object.values(resolve(document, response).headers ?? {})) {
      describeBySchema(resolve<Value>(document, header as Value))
    }
  }
}

type Value = Parameters<typeof valueOf>[0]

/** openapi-typescript types the media types of a parameter or field otherwise than its schema. */
function describeBySchema (value: Value): void {
  if (value.content === undefined) return
  value.schema = valueOf(value).schema
  delete value.content
}

/**
 * Adds a separate component for each part of a component schema that a reference names:
 * openapi-typescript finds only members of objects.
 */
function addParts (document: Description): Description {
  const parts = new Map<string, unknown>()
  const isPart = /^#\/components\/schemas\/[^/]+\//
  visitValues(document, value => {
    const holder = Object(value) as { $ref?: unknown }
    const { $ref } = holder
    if (typeof $ref !== 'string') return
    const target = $ref.startsWith('#') ? valueAt(document, $ref.slice(1)) : undefined
    if (target === undefined) {
      // In an example or an extension, where openapi-typescript follows references too.
      delete holder.$ref
    } else if (isPart.test($ref)) {
      const name = $ref.replace('#/components/schemas/', '')
      parts.set(name, target)
      holder.$ref = `#/components/schemas/${escapedKey(name)}`
    }
  })
  const { schemas } = Object(document.components) as { schemas: Record<string, unknown> }
  for (const [name, part] of parts) schemas[name] = structuredClone(part)
  return document
}
