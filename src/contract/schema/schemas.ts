// The structure of JSON Schema 2020-12: which keywords contain schemas, and what a `$ref` means.
import { isInt64 } from './int64.ts'
import { mapValues } from './members.ts'

export type Schema = Readonly<Record<string, unknown>>
/** The contract's components by name. */
export type Schemas = Readonly<Record<string, object>>

// Keywords that contain subschemas (JSON Schema 2020-12: core, section 10, and validation,
// section 8): one, a list, or a map of them.
const keywordsOfOne = new Set([
  'not', 'if', 'then', 'else', 'items', 'contains', 'additionalProperties', 'propertyNames',
  'unevaluatedItems', 'unevaluatedProperties', 'contentSchema'
])
const keywordsOfList = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const keywordsOfMap = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs'])

export function isSchemaObject (value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const byteEncodings = ['binary', '8bit', '7bit']
const textMediaType = /^text\/|[/+]json\b|x-www-form-urlencoded/i

/**
 * A string that is a file in a form: JSON has no bytes (OpenAPI 3.1, section 4.8.14.1; format
 * binary is OpenAPI 3.0's). A media type of text or JSON, or an encoding such as base64, describes
 * what is in a text.
 */
export function isFileSchema (schema: Schema): boolean {
  const { type = 'string', format, contentEncoding: encoding, contentMediaType: media } = schema
  if (![type].flat().includes('string')) return false
  if (format === 'binary' || byteEncodings.includes(String(encoding))) return true
  return media !== undefined && encoding === undefined && !textMediaType.test(String(media))
}

/**
 * The value at a JSON pointer (RFC 6901) that may be percent-encoded, as in a URI fragment;
 * undefined if there is none, or if the encoding is malformed.
 */
export function valueAt (root: unknown, pointer: string): unknown {
  const path = decoded(pointer)
  if (path === undefined) return undefined
  const escapedKeys = path.split('/').slice(1)
  let value = root
  for (const escaped of escapedKeys) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    value = Object.hasOwn(Object(value), key) ? (value as Schema)[key] : undefined
  }
  return value
}

function decoded (pointer: string): string | undefined {
  try {
    return decodeURIComponent(pointer)
  } catch {
    return undefined
  }
}

/** A name as a token of a JSON pointer (RFC 6901, section 3). */
export function escapedKey (name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The schema that a `$ref` names: a component, `Name#`, or a part of one, `Name#/...`. */
export function referenced (schemas: Schemas, { $ref }: Schema): Schema | undefined {
  if (typeof $ref !== 'string') return undefined
  const [name = '', pointer = ''] = $ref.split('#')
  if (!Object.hasOwn(schemas, name)) return undefined
  const target = valueAt(schemas[name], pointer)
  if (typeof target === 'boolean') return target ? {} : { not: {} }
  return target as Schema | undefined
}

/** Every `$ref` in a schema, at any depth of the schema itself. */
export function references (schema: Schema): Set<string> {
  const found = new Set<string>()
  for (const { $ref } of schemasWithin(schema)) if (typeof $ref === 'string') found.add($ref)
  return found
}

/** The schemas directly inside a schema in these keywords. */
export function schemasIn (schema: Schema, keywords: Iterable<string>): Schema[] {
  const found: Schema[] = []
  for (const keyword of keywords) {
    if (!Object.hasOwn(schema, keyword)) continue
    const value = schema[keyword]
    const inner = keywordsOfOne.has(keyword) ? [value] : Object.values(Object(value))
    found.push(...inner.filter(isSchemaObject))
  }
  return found
}

/** Returns the replacement of a subschema; `name` is its key, if the keyword contains several. */
type Change = (keyword: string, schema: unknown, name: string) => unknown

/** Copies a schema with each direct subschema replaced. */
export function mapSubschemas (schema: Schema, change: Change): Record<string, unknown> {
  return mapValues(schema, (value, keyword) => {
    if (keywordsOfOne.has(keyword)) return change(keyword, value, '')
    const isList = keywordsOfList.has(keyword)
    if (!isList && !keywordsOfMap.has(keyword)) return value
    const changed = mapValues(value as Schema, (inner, name) => change(keyword, inner, name))
    return isList ? Object.values(changed) : changed
  })
}

/** Keywords whose schemas together describe a value. */
export const composing = ['allOf', 'anyOf', 'oneOf']

/** A schema and those that apply to the same value, by `$ref` and by these keywords. */
export function composedSchemas (
  schema: Schema,
  schemas: Schemas,
  keywords: Iterable<string> = composing
): Set<Schema> {
  const found = new Set([schema])
  for (const part of found) {
    const target = referenced(schemas, part)
    if (target !== undefined) found.add(target)
    for (const inner of schemasIn(part, keywords)) found.add(inner)
  }
  return found
}

const allKeywords = new Set([...keywordsOfOne, ...keywordsOfList, ...keywordsOfMap])

/** A schema and those inside it, at any depth, without those that it refers to. */
export function schemasWithin (schema: Schema): Set<Schema> {
  return composedSchemas(schema, {}, allKeywords)
}

/** Whether a value of this schema may contain an int64, at any depth. */
export function containsInt64 (schema: Schema, schemas: Schemas): boolean {
  const components = known.get(schemas) ?? componentsWithInt64(schemas)
  known.set(schemas, components)
  if (schemasWithin(schema).values().some(isInt64)) return true
  return references(schema).values().some($ref => components.has(componentOf($ref)))
}

const known = new WeakMap<Schemas, ReadonlySet<string>>()

/** In large contracts, thousands of schemas lead to the same components. */
function componentsWithInt64 (schemas: Schemas): ReadonlySet<string> {
  const found = new Set<string>()
  const uses: Array<{ user: string, component: string }> = []
  for (const [user, schema] of Object.entries(schemas)) {
    if (schemasWithin(schema as Schema).values().some(isInt64)) found.add(user)
    for (const $ref of references(schema as Schema)) {
      uses.push({ user, component: componentOf($ref) })
    }
  }
  const usesOf = Map.groupBy(uses, ({ component }) => component)
  for (const component of found) {
    for (const { user } of usesOf.get(component) ?? []) found.add(user)
  }
  return found
}

export function componentOf ($ref: string): string {
  return $ref.split('#')[0] as string
}

/** Whether a schema has unevaluated keywords, at any depth of the schema itself. */
export function hasUnevaluated (schema: Schema): boolean {
  return schemasWithin(schema).values().some(part => {
    return 'unevaluatedProperties' in part || 'unevaluatedItems' in part
  })
}

/** Keywords that a valid object may break when it loses undeclared members. */
const counting = [
  'minProperties', 'uniqueItems', 'oneOf', 'not', 'if', 'contains', 'const', 'dependentSchemas'
]

/** Whether a valid value of this schema may break it without the undeclared members. */
export function countsMembers (schema: Schema, schemas: Schemas): boolean {
  return composedSchemas(schema, schemas, allKeywords).values().some(part => {
    const { enum: values = [] } = part
    return counting.some(keyword => keyword in part) || [values].flat().some(isSchemaObject)
  })
}

/** Whether a value of this schema may be a string. */
export function isString (schema: Schema, schemas: Schemas): boolean {
  const parts = composedSchemas(schema, schemas)
  return parts.values().some(({ type }) => [type].flat().includes('string'))
}
