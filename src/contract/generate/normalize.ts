// The part of a description that is served, in the form that the emitters read: what OpenAPI ignores is gone, and every
// operation has an id of its own.
import type { Oas3Operation } from '@redocly/openapi-core'
import { bodilessStatuses } from '../types.ts'
import { isSchemaObject, mapSubschemas } from '../schema/index.ts'
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
  // Refused, and so not unknown.
  '$id', '$anchor', '$dynamicAnchor', '$dynamicRef',
  '$schema', '$comment', 'title', 'description', 'deprecated', 'examples', 'contentSchema', 'example', 'externalDocs',
  'xml'
])

/**
 * A copy of a bundled description with an id for each operation below `paths`: its operationId, or one of its method and path
 * where it has none or shares it with another operation.
 */
export function withIds (document: Description): Description {
  const copy = withOwnItems(document)
  const listed = listOperations(copy)
  const uses = Map.groupBy(listed, ({ operation }) => operation.operationId)
  const taken = new Set(listed.map(({ operation }) => operation.operationId))
  for (const { method, url, operation } of listed) {
    const id = operation.operationId
    if (typeof id !== 'string' || id === '' || uses.get(id)?.length !== 1) operation.operationId = derivedId(method, url, taken)
  }
  return copy
}

/** A copy in which no two paths share a path item; fields beside a reference apply (OpenAPI 3.1, section 4.8.9). */
function withOwnItems (document: Description): Description {
  const copy = structuredClone(document)
  for (const [url, item] of Object.entries(withoutExtensions(copy.paths ?? {}))) {
    const { $ref, ...beside } = item as { $ref?: string }
    if ($ref === undefined) continue
    const paths = copy.paths as Record<string, object>
    paths[url] = { ...structuredClone(resolve<object>(copy, { $ref })), ...beside }
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
interface Skipped { has: (id: string) => boolean, hasWebhook: (name: string) => boolean }

/**
 * A copy of a description with ids, for the emitters: without the operations that are not served, without bodies that HTTP
 * never sends (RFC 9110, sections 9.3.2 and 15), and without the keywords that JSON Schema 2020-12 does not know but
 * openapi-typescript may read.
 */
export function servedPart (document: Description, skipped: Skipped): Description {
  const copy = withPlainSchemas(document) as Description
  for (const name of Object.keys(copy.webhooks ?? {})) {
    if (skipped.hasWebhook(name)) delete (copy.webhooks as Record<string, object>)[name]
  }
  for (const url of Object.keys(withoutExtensions(copy.paths ?? {}))) {
    const paths = copy.paths as Record<string, object>
    const item: Record<string, unknown> = { ...resolve(copy, paths[url] as object) }
    const declared = methods.filter(method => method in item)
    const left = declared.filter(method => !skipped.has(String((item[method] as Oas3Operation).operationId)))
    for (const method of declared) if (!left.includes(method)) delete item[method]
    // What the path has beside its operations may be broken too.
    if (declared.length > 0 && left.length === 0) delete paths[url]
    else paths[url] = item
  }
  removeRepeatedIds(copy)
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
 * A copy with unknown keywords and lone discriminators removed from all schemas. Members of examples that look like
 * schemas lose them too, which nobody reads.
 */
function withPlainSchemas (node: unknown, key?: string): unknown {
  if (Array.isArray(node)) return node.map(item => withPlainSchemas(item))
  if (!isSchemaObject(node)) return node
  if (key === 'schema') return plainSchema(node)
  if (key === 'schemas') return mapValues(node, plainSchema)
  const hasNames = key !== undefined && maps.has(key)
  return Object.fromEntries(Object.entries(node).map(([name, value]) => {
    return [name, withPlainSchemas(value, hasNames ? undefined : name)]
  }))
}

/** Fields whose members have names that the contract chooses; one may be called schema. */
const maps = new Set([
  'paths', 'webhooks', 'pathItems', 'parameters', 'headers', 'responses', 'requestBodies', 'content', 'encoding', 'examples',
  'links', 'callbacks', 'securitySchemes', 'variables'
])

function mapValues (values: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}

const texts = ['title', 'description']

function plainSchema (schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema
  const mapped = Object.entries(mapSubschemas(schema, (_keyword, inner) => plainSchema(inner)))
  const known = mapped.filter(([word, value]) => {
    // The linter only warns of what is malformed and describes.
    return keywords.has(word) || (annotations.has(word) && (typeof value === 'string' || !texts.includes(word)))
  })
  const { discriminator, ...words } = Object.fromEntries(known)
  return { ...words, ...discriminator !== undefined && Array.isArray(words.oneOf) && { discriminator } }
}

/** Operations of callbacks and webhooks lose an id that another operation has: their types are named by it. */
function removeRepeatedIds (document: Description): void {
  const operations = listOperations(document).map(({ operation }) => operation)
  const served = new Set<unknown>(operations)
  const taken = new Set<unknown>(operations.map(({ operationId }) => operationId))
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('operationId' in node && 'responses' in node && !served.has(node)) {
      if (taken.has(node.operationId)) delete node.operationId
      else taken.add(node.operationId)
    }
    Object.values(node).forEach(visit)
  }
  visit(document)
}
