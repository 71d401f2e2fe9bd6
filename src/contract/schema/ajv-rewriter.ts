// Rewrites the contract's schemas for ajv: without the members that are hidden in this direction,
// and with our keywords for int64 and for the records of a validation. The input is plain JSON
// Schema 2020-12; nothing else changes.
import { isInt64, toInt64Keyword } from './int64.ts'
import { pick } from './members.ts'
import {
  composedSchemas, isSchemaObject, mapSubschemas, referenced, type Schema, type Schemas
} from './schemas.ts'

/** A request hides readOnly members, an answer writeOnly ones. Only an answer records members. */
export type Direction = 'request' | 'answer'

/** The members that a schema declares for an object: by name, by pattern, or any. */
export interface Declared { names: string[], patterns: string[], any: boolean }

const composing = ['allOf', 'anyOf', 'oneOf']
/** Keywords whose subschemas only test the value. */
const tests = ['not', 'if', 'contains', 'propertyNames']
/** Subschemas that may fail in a valid value; `branch` then discards their records. */
const branches = ['anyOf', 'oneOf', 'not', 'if', 'contains']
const unnamedMembers = ['patternProperties', 'additionalProperties']
const memberKeywords = ['properties', ...unnamedMembers]

/** A component that is a part of another schema, which declares the members of both. */
const partMark = '!'

/** The component that a name of a rewritten reference stands for. */
export function componentOf (name: string): { component: string, isPart: boolean } {
  const isPart = name.endsWith(partMark)
  return { component: isPart ? name.slice(0, -partMark.length) : name, isPart }
}

/** @param onReference gets the name in each reference; componentOf() says what it stands for */
type Rewrite = (schema: Schema, isPart: boolean, onReference: (name: string) => void) => object

/** Returns a function that rewrites a schema. */
export function ajvRewriter (schemas: Schemas, direction: Direction): Rewrite {
  const marker = direction === 'request' ? 'readOnly' : 'writeOnly'

  function isHidden (schema: unknown): boolean {
    if (!isSchemaObject(schema)) return false
    if (schema[marker] === true || isHidden(referenced(schemas, schema))) return true
    return composing.some(keyword => (schema[keyword] as Schema[] | undefined)?.some(isHidden))
  }

  // `required` may name a member that another schema of the same allOf declares.
  function hiddenMembers (schema: Schema): string[] {
    const names: string[] = []
    for (const { properties = {} } of composedSchemas(schema, schemas, ['allOf'])) {
      for (const [name, member] of Object.entries(properties as object)) {
        if (isHidden(member)) names.push(name)
      }
    }
    return names
  }

  /**
   * @param inherited names of members that the schema around an allOf hides
   * @param role what the schema is for: `test` records nothing, and a `part` leaves that to the
   * schema around it
   */
  function rewrite (
    schema: unknown,
    inherited: string[],
    role: Role,
    onReference: (name: string) => void
  ): unknown {
    if (!isSchemaObject(schema)) return schema
    const hidden = [...inherited, ...hiddenMembers(schema)]
    const declaresAll = direction === 'answer' && role === 'whole' && isComposed(schema)
    const roleInside = declaresAll ? 'part' : role
    const changed = mapSubschemas(schema, (keyword, subschema, name) => {
      if (keyword === 'properties' && hidden.includes(name)) return false
      if (unnamedMembers.includes(keyword) && isHidden(subschema)) return false
      const inheriting = keyword === 'allOf' ? hidden : []
      const roleOfInner = roleIn(keyword, roleInside)
      const inner = rewrite(subschema, inheriting, roleOfInner, onReference)
      if (keyword === 'contains') return { containsBranch: inner }
      return branches.includes(keyword) ? { branch: inner } : inner
    })
    const rewritten = withoutIneffectiveKeywords(changed)
    // Without limits, ajv takes an empty array for one like the array before it.
    if ('contains' in schema) rewritten.maxContains ??= Number.MAX_SAFE_INTEGER
    if (Array.isArray(schema.required)) {
      rewritten.required = schema.required.filter(name => !hidden.includes(name))
    }
    if (typeof schema.$ref === 'string') {
      rewritten.$ref = rewriteReference(schema.$ref, roleInside, onReference)
    }
    return role === 'test' ? rewritten : addDescription(schema, rewritten, hidden, role)
  }

  /** Adds the words that only a schema that describes the value needs. */
  function addDescription (
    schema: Schema,
    rewritten: Record<string, unknown>,
    hidden: string[],
    role: Role
  ): object {
    // A schema that lists members means an object, and so does its TypeScript type.
    if ('properties' in schema) rewritten.type ??= 'object'
    if (direction === 'answer' && role === 'whole') {
      const parts = isComposed(schema) ? composedSchemas(schema, schemas, ['allOf']) : [schema]
      const describing = [...parts].filter(describesObjects)
      if (describing.length > 0) rewritten.declares = declaredMembers(describing, hidden)
    }
    return isInt64(schema) ? toInt64Keyword(rewritten) : rewritten
  }

  return (schema, isPart, onReference) => {
    return rewrite(schema, [], isPart ? 'part' : 'whole', onReference) as object
  }
}

type Role = 'whole' | 'part' | 'test'

function roleIn (keyword: string, role: Role): Role {
  if (role === 'test' || tests.includes(keyword)) return 'test'
  return keyword === 'allOf' ? role : 'whole'
}

/** Whether a schema and others that it names describe one object together. */
function isComposed (schema: Schema): boolean {
  return 'allOf' in schema || ('$ref' in schema && describesObjects(schema))
}

/** A reference to a place inside a component stays as it is. */
function rewriteReference (
  $ref: string,
  role: Role,
  onReference: (name: string) => void
): string {
  const [component = '', pointer = ''] = $ref.split('#')
  const name = role === 'part' && pointer === '' ? component + partMark : component
  onReference(name)
  return `${name}#${pointer}`
}

/**
 * Removes keywords that validate nothing: OpenAPI's (section 4.8.24.1), extensions, and keywords
 * without their partner. Keeps the discriminator's name for messages.
 */
function withoutIneffectiveKeywords (schema: Record<string, unknown>): Record<string, unknown> {
  const ineffective = ['discriminator', 'example', 'externalDocs', 'xml']
  if (!('if' in schema)) ineffective.push('then', 'else')
  if (!('then' in schema || 'else' in schema)) ineffective.push('if')
  if (!('contains' in schema)) ineffective.push('minContains', 'maxContains')
  const kept = pick(schema, keyword => {
    return !ineffective.includes(keyword) && !keyword.startsWith('x-')
  })
  const { discriminator } = schema
  if (isSchemaObject(discriminator)) kept.discriminatorName = discriminator.propertyName
  return kept
}

function describesObjects (schema: Schema): boolean {
  const isObject = [schema.type].flat().includes('object')
  return isObject || memberKeywords.some(keyword => keyword in schema)
}

function declaredMembers (schemas: Schema[], hidden: string[]): Declared {
  const declared: Declared = { names: [], patterns: [], any: false }
  for (const { properties = {}, patternProperties = {}, ...others } of schemas) {
    const { additionalProperties = false, unevaluatedProperties = false } = others
    const names = Object.keys(properties as object)
    declared.names.push(...names.filter(name => !hidden.includes(name)))
    declared.patterns.push(...Object.keys(patternProperties as object))
    if (additionalProperties !== false || unevaluatedProperties !== false) declared.any = true
  }
  return declared
}
