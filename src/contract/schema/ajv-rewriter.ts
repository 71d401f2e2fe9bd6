// Rewrites the contract's schemas for ajv: without the members that are hidden in this direction, and with our keywords
// for int64 and for the records of a validation. The input is plain JSON Schema 2020-12; nothing else changes.
import { isInt64, toInt64Keyword } from './int64.ts'
import { isSchemaObject, mapSubschemas, referenced } from './schemas.ts'
import type { Schema, Schemas } from './schemas.ts'

/** A request hides readOnly members, an answer writeOnly ones; only an answer records its declared members. */
export type Direction = 'request' | 'answer'

/** The members that a schema declares for an object: by name, by pattern, or any. */
export interface Declared { names: string[], patterns: string[], any: boolean }

/** What a schema inherits: hidden members, and whether it only tests the value. */
interface Position { hidden: string[], isTest: boolean }

const tests = ['not', 'if', 'contains', 'propertyNames']
/** Subschemas that may fail in a valid value; `branch` then discards their records. */
const branches = ['anyOf', 'oneOf', 'not', 'if', 'contains']
const unnamedMembers = ['patternProperties', 'additionalProperties']
const memberKeywords = ['properties', ...unnamedMembers]

/** A function that rewrites a schema for ajv. Rewrite the components that it refers to with the same function. */
export function rewriter (schemas: Schemas, direction: Direction): (schema: Schema) => object {
  const { isHidden, hiddenMembers } = hiding(schemas, direction === 'request' ? 'readOnly' : 'writeOnly')

  const rewrite = (schema: unknown, position: Position): unknown => {
    if (!isSchemaObject(schema)) return schema
    const hidden = [...position.hidden, ...hiddenMembers(schema)]
    const rewritten = withoutIneffectiveKeywords(mapSubschemas(schema, (keyword, subschema, name) => {
      if (keyword === 'properties' && hidden.includes(name)) return false
      if (unnamedMembers.includes(keyword) && isHidden(subschema)) return false
      const isTest = position.isTest || tests.includes(keyword)
      const inner = rewrite(subschema, { hidden: keyword === 'allOf' ? hidden : [], isTest })
      if (keyword === 'contains') return { quietBranch: inner }
      return branches.includes(keyword) ? { branch: inner } : inner
    }))
    // Without limits, ajv takes an empty array for one like the array before it.
    if ('contains' in schema) rewritten.maxContains ??= Number.MAX_SAFE_INTEGER
    if (Array.isArray(schema.required)) rewritten.required = schema.required.filter(name => !hidden.includes(name))
    return position.isTest ? rewritten : addDescription(schema, rewritten, hidden)
  }

  /** Adds the words that only a schema that describes the value needs. */
  const addDescription = (schema: Schema, rewritten: Record<string, unknown>, hidden: string[]): object => {
    // A schema that lists members means an object, and so does its TypeScript type.
    if ('properties' in schema) rewritten.type ??= 'object'
    if (direction === 'answer' && describesObjects(schema)) rewritten.declares = declaredMembers(schema, hidden)
    return isInt64(schema) ? toInt64Keyword(rewritten) : rewritten
  }

  return schema => rewrite(schema, { hidden: [], isTest: false }) as object
}

/** Finds the schemas and members that a marker hides. */
function hiding (schemas: Schemas, marker: 'readOnly' | 'writeOnly') {
  const isHidden = (schema: unknown): boolean => isSchemaObject(schema) && (
    schema[marker] === true ||
    isHidden(referenced(schemas, schema)) ||
    ['allOf', 'anyOf', 'oneOf'].some(keyword => (schema[keyword] as Schema[] | undefined)?.some(isHidden))
  )
  // `required` may name a member that another schema of the same allOf declares.
  const hiddenMembers = (schema: Schema | undefined): string[] => schema === undefined
    ? []
    : [
        ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => isHidden(member) ? [name] : []),
        ...(schema.allOf as Schema[] | undefined ?? []).flatMap(hiddenMembers),
        ...hiddenMembers(referenced(schemas, schema))
      ]
  return { isHidden, hiddenMembers }
}

/**
 * Removes keywords that validate nothing: OpenAPI's (section 4.8.24.1), extensions, and keywords without their partner.
 * Keeps the discriminator's name for messages.
 */
function withoutIneffectiveKeywords ({ discriminator, ...schema }: Record<string, unknown>): Record<string, unknown> {
  const ineffective = ['example', 'externalDocs', 'xml']
  if (!('if' in schema)) ineffective.push('then', 'else')
  if (!('then' in schema || 'else' in schema)) ineffective.push('if')
  if (!('contains' in schema)) ineffective.push('minContains', 'maxContains')
  const isEffective = ([keyword]: [string, unknown]) => !ineffective.includes(keyword) && !keyword.startsWith('x-')
  const kept = Object.fromEntries(Object.entries(schema).filter(isEffective))
  if (discriminator !== undefined) kept.discriminatorName = (discriminator as { propertyName: string }).propertyName
  return kept
}

function describesObjects (schema: Schema): boolean {
  return [schema.type].flat().includes('object') || memberKeywords.some(keyword => keyword in schema)
}

function declaredMembers (schema: Schema, hidden: string[]): Declared {
  const { properties = {}, patternProperties = {} } = schema
  const { additionalProperties = false, unevaluatedProperties = false } = schema
  return {
    names: Object.keys(properties as object).filter(name => !hidden.includes(name)),
    patterns: Object.keys(patternProperties as object),
    any: additionalProperties !== false || unevaluatedProperties !== false
  }
}
