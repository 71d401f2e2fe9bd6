// The part of a description that is served, in the form that the emitters read: without what
// OpenAPI ignores, and with an id for every operation.
import type { Oas3Operation, Oas3RequestBody } from '@redocly/openapi-core'
import { isSchemaObject, mapSubschemas, mapValues } from '../../schema/index.ts'
import { bodilessStatuses } from '../../types/contract.ts'
import {
  type Description, type ListedOperation, listOperations, resolve, visitValues, withoutExtensions
} from './description.ts'
import { withPlainContent } from './plain-content.ts'
import { takeName } from './schema-names.ts'

/** The keywords of JSON Schema 2020-12 that validate, and those that OpenAPI gives a meaning to. */
export const keywords = new Set([
  '$ref', '$defs', 'type', 'enum', 'const', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum',
  'exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems',
  'maxContains', 'minContains', 'maxProperties', 'minProperties', 'required', 'dependentRequired',
  'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'prefixItems',
  'items', 'contains', 'properties', 'patternProperties', 'additionalProperties', 'propertyNames',
  'unevaluatedItems', 'unevaluatedProperties', 'format', 'contentEncoding', 'contentMediaType',
  'default', 'readOnly', 'writeOnly', 'discriminator'
])

/** Keywords of JSON Schema 2020-12 and OpenAPI 3.1 that only annotate. */
export const annotations = new Set([
  // Refused, and so not unknown.
  '$id', '$anchor', '$dynamicAnchor', '$dynamicRef',
  '$schema', '$comment', 'title', 'description', 'deprecated', 'examples', 'contentSchema',
  'example', 'externalDocs', 'xml'
])

/**
 * A copy of a bundled description with an id for each operation below `paths`: its operationId, or
 * one of its method and path where it has none or shares it with another operation.
 */
export function withIds (document: Description): Description {
  const own = withOwnItems(document)
  const listed = listOperations(own)
  const uses = Map.groupBy(listed, ({ operation }) => operation.operationId)
  const taken = new Set<unknown>(uses.keys())
  for (const { method, url, operation } of listed) {
    const id = operation.operationId
    const isOwn = typeof id === 'string' && id !== '' && uses.get(id)?.length === 1
    if (!isOwn) operation.operationId = takeName(derivedId(method, url), taken)
  }
  return own
}

/**
 * A copy without shared path items and operations, which get other ids; fields beside a $ref apply
 * (OpenAPI 3.1, section 4.8.9).
 */
function withOwnItems (document: Description): Description {
  const given = (document.paths ?? {}) as Record<string, { $ref?: string }>
  const paths = mapValues(given, (item, url) => {
    if (url.startsWith('x-')) return item
    const { $ref, ...beside } = item
    const shared = $ref === undefined ? {} : resolve<object>(document, { $ref })
    return mapValues({ ...shared, ...beside }, (member, name) => {
      return name === 'additionalOperations' ? mapValues(Object(member), copy) : copy(member)
    })
  })
  return { ...document, paths } as Description
}

function copy (member: unknown): unknown {
  return isSchemaObject(member) ? { ...member } : member
}

/** For example `getUsersByIdPosts` for GET /users/{id}/posts. */
function derivedId (method: string, url: string): string {
  let id = ''
  const text = method.toLowerCase() + url.replaceAll('{', 'by ')
  for (const word of text.split(/[^\p{L}\p{N}]+/u)) {
    id += id === '' ? word : word.slice(0, 1).toUpperCase() + word.slice(1)
  }
  return id
}

/** The operations and webhooks that are not served. */
interface Skipped { has: (id: string) => boolean, hasWebhook: (name: string) => boolean }

/**
 * A copy of a description with ids, for the emitters: without the operations that are not served,
 * without bodies that HTTP never sends (RFC 9110, sections 9.3.2 and 15), and without the keywords
 * that JSON Schema 2020-12 does not know but openapi-typescript may read.
 */
export function servedPart (document: Description, skipped: Skipped): Description {
  const copy = changeSchemas(withPlainContent(document), plainSchema) as Description
  const webhooks = copy.webhooks as Record<string, object> | undefined ?? {}
  for (const name of Object.keys(webhooks)) if (skipped.hasWebhook(name)) delete webhooks[name]
  removeSkipped(copy, skipped)
  removeRepeatedIds(copy)
  for (const { method, operation } of listOperations(copy)) {
    removeBodies(copy, method, operation)
    if (method === 'query') requireBody(copy, operation)
  }
  return copy
}

function removeSkipped (document: Description, skipped: Skipped): void {
  const isSkipped = ({ operation }: ListedOperation) => skipped.has(String(operation.operationId))
  for (const [url, listed] of Map.groupBy(listOperations(document), ({ url }) => url)) {
    // What the path has beside its operations may be broken too.
    if (listed.every(isSkipped)) delete (document.paths as Record<string, unknown>)[url]
    for (const one of listed.filter(isSkipped)) delete one.owner[one.method]
  }
}

/** Removes the bodies of responses that HTTP sends without one. */
function removeBodies (document: Description, method: string, operation: Oas3Operation): void {
  const declared = withoutExtensions(operation.responses ?? {})
  if (Object.keys(declared).length === 0) {
    // The contract says nothing of the responses (OpenAPI 3.1, section 4.8.10).
    operation.responses = { default: { description: '' } }
    return
  }
  const responses: Record<string, object> = {}
  for (const [status, response] of Object.entries(declared)) {
    const { content = {}, ...rest } = resolve<{ content?: object }>(document, response)
    const isBodiless = method === 'head' || bodilessStatuses.some(known => String(known) === status)
    const hasBody = !isBodiless && Object.keys(content).length > 0
    // Contracts also write 4XX in lower case.
    responses[status.replace(/xx$/, 'XX')] = hasBody ? response : rest
  }
  operation.responses = responses as typeof declared
}

/** A request with QUERY has content (RFC 10008, section 2). */
function requireBody (document: Description, operation: Oas3Operation): void {
  const body = resolve<Partial<Oas3RequestBody>>(document, Object(operation.requestBody))
  operation.requestBody = { content: {}, ...body, required: true }
}

/**
 * A copy with other schemas. Members of examples that look like schemas change too; the emitters do
 * not read examples.
 * @param change gets the outermost schemas
 */
export function changeSchemas (
  node: unknown,
  change: (schema: unknown) => unknown,
  key?: string
): unknown {
  if (Array.isArray(node)) return node.map(item => changeSchemas(item, change))
  if (key === 'schema') return change(node)
  if (!isSchemaObject(node)) return node
  if (key === 'schemas') return mapValues(node, change)
  const hasNames = key !== undefined && maps.has(key)
  return mapValues(node, (value, name) => {
    return changeSchemas(value, change, hasNames ? undefined : name)
  })
}

/** Fields whose members have names that the contract chooses; one may be called schema. */
const maps = new Set([
  'paths', 'webhooks', 'pathItems', 'parameters', 'headers', 'responses', 'requestBodies',
  'content', 'encoding', 'examples', 'links', 'callbacks', 'securitySchemes', 'variables'
])

/** Where openapi-typescript reads boolean schemas. */
const takesBooleans = new Set([
  'properties', 'patternProperties', 'items', 'additionalProperties', 'unevaluatedItems',
  'unevaluatedProperties'
])

/** Booleans in OpenAPI 3.0, which say of another keyword that its value is excluded. */
export const exclusiveBounds = { exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' }

/**
 * Without unknown keywords, lone discriminators and booleans as bounds, and with objects for
 * boolean schemas.
 */
function plainSchema (schema: unknown): unknown {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} }
  if (!isSchemaObject(schema)) return schema
  const plain = mapSubschemas(schema, (keyword, inner) => {
    return typeof inner === 'boolean' && takesBooleans.has(keyword) ? inner : plainSchema(inner)
  })
  for (const [word, value] of Object.entries(plain)) {
    // The linter only warns of what is malformed and describes.
    const isMalformed = (word === 'title' || word === 'description') && typeof value !== 'string'
    const isKnown = keywords.has(word) || (annotations.has(word) && !isMalformed)
    if (!isKnown) delete plain[word]
  }
  for (const [word, bound] of Object.entries(exclusiveBounds)) {
    if (plain[word] === true) plain[word] = plain[bound]
    if (typeof plain[word] !== 'number') delete plain[word]
  }
  const { discriminator, ...words } = plain
  if (discriminator === undefined || !Array.isArray(words.oneOf)) return words
  return { ...words, discriminator }
}

/** Operations of callbacks and webhooks lose a repeated id: their types are named by it. */
function removeRepeatedIds (document: Description): void {
  const operations = listOperations(document).map(({ operation }) => operation)
  const served = new Set<unknown>(operations)
  const taken = new Set<unknown>(operations.map(({ operationId }) => operationId))
  visitValues(document, node => {
    const operation = Object(node) as Oas3Operation
    const isOperation = 'operationId' in operation && 'responses' in operation
    if (!isOperation || served.has(operation)) return
    if (taken.has(operation.operationId)) delete operation.operationId
    else taken.add(operation.operationId)
  })
}
