// The part of a description that is served, in the form that the emitters read: what OpenAPI ignores is gone, and every
// operation has an id of its own.
import type { Oas3Operation } from '@redocly/openapi-core'
import { bodilessStatuses } from '../src/contract/index.ts'
import { isSchemaObject, mapSubschemas } from '../src/contract/schema/index.ts'
import type { Schema } from '../src/contract/schema/index.ts'
import { listOperations, methods, resolve, withoutExtensions } from './description.ts'
import type { Description } from './description.ts'

/** Keywords of JSON Schema 2020-12 that validate, and those that OpenAPI gives a meaning to. All others annotate. */
export const keywords = new Set([
  '$ref', '$defs', 'type', 'enum', 'const', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum',
  'maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'maxContains', 'minContains',
  'maxProperties', 'minProperties', 'required', 'dependentRequired', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then',
  'else', 'dependentSchemas', 'prefixItems', 'items', 'contains', 'properties', 'patternProperties',
  'additionalProperties', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties', 'format', 'contentEncoding',
  'contentMediaType', 'default', 'readOnly', 'writeOnly', 'discriminator'
])

/** Keywords of JSON Schema 2020-12 and OpenAPI 3.1 that only annotate. */
export const annotations = new Set([
  '$schema', '$comment', 'title', 'description', 'deprecated', 'examples', 'contentSchema', 'example', 'externalDocs',
  'xml'
])

/**
 * A copy of a bundled description with an id for each operation below `paths`: its operationId, or one of its method and path
 * where it has none or shares it with another operation.
 */
export function withIds (document: Description): Description {
  const copy = structuredClone(document)
  const listed = listOperations(copy)
  const uses = Map.groupBy(listed, ({ operation }) => operation.operationId)
  const taken = new Set(listed.map(({ operation }) => operation.operationId))
  for (const { method, url, operation } of listed) {
    const id = operation.operationId
    if (id === undefined || uses.get(id)?.length !== 1) operation.operationId = derivedId(method, url, taken)
  }
  return copy
}

/** For example `getUsersByIdPosts` for GET /users/{id}/posts. */
function derivedId (method: string, url: string, taken: Set<string | undefined>): string {
  const words = url.replaceAll('{', 'by ').split(/[^\p{L}\p{N}]+/u).filter(word => word !== '')
  const id = method + words.map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
  let unique = id
  for (let count = 2; taken.has(unique); count++) unique = `${id}${count}`
  taken.add(unique)
  return unique
}

/** The ids of operations that are not served. */
interface Skipped { has: (id: string) => boolean }

/**
 * A copy of a description with ids, for the emitters: without the operations that are not served, without bodies that HTTP
 * never sends (RFC 9110, sections 9.3.2 and 15), and without the words that openapi-typescript reads but JSON Schema
 * 2020-12 does not know.
 */
export function servedPart (document: Description, skipped: Skipped): Description {
  const copy = withPlainSchemas(document) as Description
  for (const url of Object.keys(withoutExtensions(copy.paths ?? {}))) {
    const paths = copy.paths as Record<string, object>
    const item: Record<string, unknown> = { ...resolve(copy, paths[url] as object) }
    for (const method of methods) {
      const { operationId } = item[method] as Partial<Oas3Operation> ?? {}
      if (operationId !== undefined && skipped.has(operationId)) delete item[method]
    }
    paths[url] = item
  }
  for (const { method, operation } of listOperations(copy)) {
    const declared = Object.entries(withoutExtensions(operation.responses ?? {}))
    // Without any (OpenAPI 3.1, section 4.8.10) the contract says nothing of the responses: they have no body.
    const responses = declared.length > 0 ? declared : [['default', { description: '' }]] as typeof declared
    operation.responses = Object.fromEntries(responses.map(([status, response]) => {
      const { content = {}, ...rest } = resolve<{ content?: object }>(copy, response)
      const hasBody = Object.keys(content).length > 0 && !isBodiless(method, status)
      return [status, hasBody ? response : rest]
    }))
  }
  return copy
}

/** Whether HTTP sends no body in such a response. */
function isBodiless (method: string, status: string): boolean {
  return method === 'head' || bodilessStatuses.map(String).includes(status)
}

/**
 * A copy with `nullable` and lone discriminators removed from all schemas. Members of examples that look like schemas
 * lose them too, which nobody reads.
 */
function withPlainSchemas (node: unknown, key?: string): unknown {
  if (Array.isArray(node)) return node.map(item => withPlainSchemas(item))
  if (!isSchemaObject(node)) return node
  if (key === 'schema') return plainSchema(node)
  return Object.fromEntries(Object.entries(node).map(([name, value]) => {
    const isSchemas = name === 'schemas' && isSchemaObject(value)
    return [name, isSchemas ? mapValues(value, plainSchema) : withPlainSchemas(value, name)]
  }))
}

function mapValues (values: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}

function plainSchema (schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema
  const { nullable, discriminator, ...words } = mapSubschemas(schema, (_keyword, inner) => plainSchema(inner)) as Schema
  return { ...words, ...discriminator !== undefined && Array.isArray(words.oneOf) && { discriminator } }
}
