// The structure of JSON Schema 2020-12: which keywords contain schemas, and what a `$ref` refers to.
import { isInt64 } from './int64.ts'

export type Schema = Readonly<Record<string, unknown>>
/** The contract's components by name. */
export type Schemas = Readonly<Record<string, object>>

/** Keywords that contain subschemas, and how (JSON Schema 2020-12: core, section 10, and validation, section 8). */
const containers: Readonly<Record<string, 'one' | 'list' | 'map'>> = {
  allOf: 'list',
  anyOf: 'list',
  oneOf: 'list',
  prefixItems: 'list',
  not: 'one',
  if: 'one',
  then: 'one',
  else: 'one',
  items: 'one',
  contains: 'one',
  additionalProperties: 'one',
  propertyNames: 'one',
  unevaluatedItems: 'one',
  unevaluatedProperties: 'one',
  contentSchema: 'one',
  properties: 'map',
  patternProperties: 'map',
  dependentSchemas: 'map',
  $defs: 'map'
}

export function isSchemaObject (value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A string that is a file in a form: JSON has no bytes (OpenAPI 3.1, section 4.8.14.1; format binary is OpenAPI 3.0's).
 * A media type of text or JSON, or an encoding such as base64, describes what is in a text.
 */
export function isFileSchema ({ type = 'string', format, contentEncoding, contentMediaType }: Schema): boolean {
  if (![type].flat().includes('string')) return false
  if (format === 'binary' || ['binary', '8bit', '7bit'].includes(String(contentEncoding))) return true
  const isOfText = /^text\/|[/+]json\b|x-www-form-urlencoded/i.test(String(contentMediaType))
  return contentMediaType !== undefined && contentEncoding === undefined && !isOfText
}

/** The value at a JSON pointer (RFC 6901) that may be percent-encoded, as in a URI fragment. */
export function valueAt (root: unknown, pointer: string): unknown {
  const escapedKeys = decodeURIComponent(pointer).split('/').slice(1)
  const keys = escapedKeys.map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return keys.reduce((value, key) => Object.hasOwn(Object(value), key) ? (value as Schema)[key] : undefined, root)
}

/** A name as a token of a JSON pointer (RFC 6901, section 3). */
export function escapedKey (name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The schema that a `$ref` of generated/operations.ts names: a component, `Name#`, or a part of one, `Name#/...`. */
export function referenced (schemas: Schemas, { $ref }: Schema): Schema | undefined {
  if (typeof $ref !== 'string') return undefined
  const [name = '', pointer = ''] = $ref.split('#')
  return Object.hasOwn(schemas, name) ? valueAt(schemas[name], pointer) as Schema | undefined : undefined
}

/** The names of the components that a schema refers to, at any depth of the schema itself. */
export function referencedNames (schema: Schema): Set<string> {
  const found = new Set<string>()
  const visit = (part: Schema): void => {
    if (typeof part.$ref === 'string') found.add(part.$ref.split('#', 1)[0] as string)
    for (const [, inner] of subschemas(part)) visit(inner)
  }
  visit(schema)
  return found
}

/** The schemas directly inside a schema, with the keyword that contains each. */
export function subschemas (schema: Schema): Array<[keyword: string, schema: Schema]> {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const container = containers[keyword]
    const inside = container === 'one' ? [value] : container === undefined ? [] : Object.values(value as object)
    return inside.filter(isSchemaObject).map((schema): [string, Schema] => [keyword, schema])
  })
}

/** Returns the replacement of a subschema; `name` is its key, where the keyword contains several. */
type Change = (keyword: string, schema: unknown, name: string) => unknown

/** Copies a schema with each direct subschema replaced. */
export function mapSubschemas (schema: Schema, change: Change): Record<string, unknown> {
  const words = Object.entries(schema).map(([keyword, value]) => [keyword, mapContained(keyword, value, change)])
  return Object.fromEntries(words)
}

function mapContained (keyword: string, value: unknown, change: Change): unknown {
  const entries = () => Object.entries(value as object).map(([name, inner]) => [name, change(keyword, inner, name)])
  switch (containers[keyword]) {
    case 'one': return change(keyword, value, '')
    case 'list': return entries().map(([, inner]) => inner)
    case 'map': return Object.fromEntries(entries())
    default: return value
  }
}

const composing = ['allOf', 'anyOf', 'oneOf']

/** A schema and those that it consists of, by `$ref`, allOf, anyOf and oneOf. */
export function composedSchemas (schema: Schema, schemas: Schemas): Set<Schema> {
  const found = new Set([schema])
  for (const part of found) {
    const target = referenced(schemas, part)
    if (target !== undefined) found.add(target)
    for (const [keyword, inner] of subschemas(part)) if (composing.includes(keyword)) found.add(inner)
  }
  return found
}

/** Whether a value of this schema may contain an int64, at any depth. */
export function containsInt64 (schema: Schema, schemas: Schemas): boolean {
  const found = new Set([schema])
  for (const part of found) {
    if (isInt64(part)) return true
    const target = referenced(schemas, part)
    if (target !== undefined) found.add(target)
    for (const [, inner] of subschemas(part)) found.add(inner)
  }
  return false
}

/** Whether a value of this schema may be a string. */
export function isString (schema: Schema, schemas: Schemas): boolean {
  return composedSchemas(schema, schemas).values().some(({ type }) => [type].flat().includes('string'))
}
