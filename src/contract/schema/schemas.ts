// The contract's schemas as ajv is to see them: int64 by a keyword of ours, readOnly and writeOnly by direction,
// and keywords that note what a validation finds out. Plain JSON Schema 2020-12 goes in, nothing else is changed.
import { isInt64, toInt64Keyword } from './int64.ts'

export type Schema = Readonly<Record<string, unknown>>
export type Schemas = Readonly<Record<string, object>>
/** A request is read, an answer is written: they differ in the members that are hidden, and in what is noted. */
export type Direction = 'request' | 'answer'

/** Keywords that hold subschemas (JSON Schema 2020-12 core, section 10 and validation, section 8), by how they hold them. */
const holders: Readonly<Record<string, 'one' | 'list' | 'map'>> = {
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

/** The schema that a `$ref` names, as it stands in generated/operations.ts: a component, `Name#`, or a part of one, `Name#/...`. */
export function refersTo (schemas: Schemas, { $ref }: Schema): Schema | undefined {
  if (typeof $ref !== 'string') return undefined
  const [name = '', pointer = ''] = $ref.split('#')
  const keys = decodeURIComponent(pointer).split('/').slice(1).map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return keys.reduce<unknown>((schema, key) => (schema as Schema)[key], schemas[name]) as Schema | undefined
}

/** The schemas directly inside a schema, with the keyword that holds each. */
export function subschemas (schema: Schema): Array<[keyword: string, schema: Schema]> {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const how = holders[keyword]
    const inside = how === 'one' ? [value] : how === undefined ? [] : Object.values(value as object)
    return inside.filter(isObject).map((schema): [string, Schema] => [keyword, schema])
  })
}

/** A function that rewrites a schema for ajv. The components that it may refer to are rewritten by it as well. */
export function rewriter (schemas: Schemas, direction: Direction): (schema: Schema) => object {
  const marker = direction === 'request' ? 'readOnly' : 'writeOnly'

  const isHidden = (schema: unknown): boolean => isObject(schema) && (schema[marker] === true || isHidden(refersTo(schemas, schema)) ||
    ['allOf', 'anyOf', 'oneOf'].some(keyword => (schema[keyword] as Schema[] | undefined)?.some(isHidden)))
  // `required` may name a member that another schema of the same allOf declares.
  const hiddenMembers = (schema: Schema | undefined): string[] => schema === undefined
    ? []
    : [
        ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => isHidden(member) ? [name] : []),
        ...(schema.allOf as Schema[] | undefined ?? []).flatMap(hiddenMembers),
        ...hiddenMembers(refersTo(schemas, schema))
      ]
  const rewrite = (schema: unknown, { hiddenBeside, isTest }: Position): unknown => {
    if (!isObject(schema)) return schema
    const hidden = [...hiddenBeside, ...hiddenMembers(schema)]
    const rewritten = withoutIdleWords(mapSubschemas(schema, (keyword, subschema, name) => {
      if (keyword === 'properties' ? hidden.includes(name) : membersBy.includes(keyword) && isHidden(subschema)) return false
      const inner = rewrite(subschema, { hiddenBeside: keyword === 'allOf' ? hidden : [], isTest: isTest || tests.includes(keyword) })
      return ['anyOf', 'oneOf', 'not', 'if', 'contains'].includes(keyword) ? { branch: inner } : inner
    }))
    const { discriminator } = schema as { discriminator?: { propertyName: string } }
    if (discriminator !== undefined) rewritten.tellsBy = discriminator.propertyName
    if (Array.isArray(schema.required)) rewritten.required = schema.required.filter(name => !hidden.includes(name))
    if (isTest) return rewritten
    // Who lists members means an object, and so does the schema's TypeScript type.
    if ('properties' in schema) rewritten.type ??= 'object'
    if (direction === 'answer' && describesObjects(schema)) rewritten.declares = declaredMembers(schema, hidden)
    return isInt64(schema) ? toInt64Keyword(rewritten) : rewritten
  }
  return schema => rewrite(schema, { hiddenBeside: [], isTest: false }) as object
}

/** Where a schema stands: beside schemas with hidden members, and inside one that only asks and describes nothing. */
interface Position { hiddenBeside: string[], isTest: boolean }
const tests = ['not', 'if', 'contains', 'propertyNames']
const membersBy = ['patternProperties', 'additionalProperties']

/** Without the words that validate nothing: those of OpenAPI (section 4.8.24.1), extensions, and keywords without their other half. */
function withoutIdleWords (schema: Record<string, unknown>): Record<string, unknown> {
  const idle = ['discriminator', 'example', 'externalDocs', 'xml']
  if (!('if' in schema)) idle.push('then', 'else')
  if (!('then' in schema || 'else' in schema)) idle.push('if')
  if (!('contains' in schema)) idle.push('minContains', 'maxContains')
  return Object.fromEntries(Object.entries(schema).filter(([word]) => !idle.includes(word) && !word.startsWith('x-')))
}

/** The members of an object that a schema declares: by name, by pattern, or any. */
export interface Declared { names: string[], patterns: string[], any: boolean }

function describesObjects (schema: Schema): boolean {
  return [schema.type].flat().includes('object') || ['properties', 'patternProperties', 'additionalProperties'].some(keyword => keyword in schema)
}

function declaredMembers ({ properties = {}, patternProperties = {}, additionalProperties = false, unevaluatedProperties = false }: Schema, hidden: string[]): Declared {
  return {
    names: Object.keys(properties as object).filter(name => !hidden.includes(name)),
    patterns: Object.keys(patternProperties as object),
    any: additionalProperties !== false || unevaluatedProperties !== false
  }
}

/** A copy with each schema directly inside changed; `name` is its key, where the keyword holds several. */
export function mapSubschemas (schema: Schema, change: (keyword: string, schema: unknown, name: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => {
    const entries = () => Object.entries(value as object).map(([name, inner]) => [name, change(keyword, inner, name)] as const)
    switch (holders[keyword]) {
      case 'one': return [keyword, change(keyword, value, '')]
      case 'list': return [keyword, entries().map(([, inner]) => inner)]
      case 'map': return [keyword, Object.fromEntries(entries())]
      default: return [keyword, value]
    }
  }))
}

function isObject (value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
