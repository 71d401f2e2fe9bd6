// Rewrites the contract's schemas for ajv: without the members that are hidden in this direction,
// and with our keywords for int64 and for the records of a validation. The input is plain JSON
// Schema 2020-12; nothing else changes.
import { isInt64, toInt64Keyword } from './int64.ts'
import { pick } from './members.ts'
import {
  composedSchemas, composing, containsInt64, isSchemaObject, mapSubschemas, referenced, type Schema,
  type Schemas
} from './schemas.ts'
import { tagName, withTagCheck } from './union-tag.ts'

/**
 * A request hides readOnly members, an answer writeOnly ones, and a trial none. All but a request
 * record members.
 */
const markers = { request: 'readOnly', answer: 'writeOnly', trial: '' }
export type Direction = keyof typeof markers

/** The members that a schema declares for an object: by name, by pattern, or any. */
export interface Declared { names: ReadonlySet<string>, patterns: RegExp[], any: boolean }

export function declares ({ any, names, patterns }: Declared, name: string): boolean {
  return any || names.has(name) || patterns.some(pattern => pattern.test(name))
}

/** Keywords whose subschemas only test the value. */
const tests = ['not', 'if', 'contains', 'propertyNames']
/** Subschemas that may fail in a valid value; `branch` then discards their records. */
const branches = ['anyOf', 'oneOf', 'not', 'if', 'contains']
const unnamedMembers = ['patternProperties', 'additionalProperties']
const memberKeywords = ['properties', ...unnamedMembers]

/** The id of the schema that a `$ref` names. A pointer would not fit a rewritten component. */
export function toSchemaId ($ref: string): string {
  return encodeURIComponent($ref.replace(/#$/, ''))
}

/**
 * Returns a function that rewrites a schema, and the components that it refers to.
 * @param recordsAccepted whether keywords of unevaluated.ts need to know which branches match
 */
export function ajvRewriter (
  schemas: Schemas,
  direction: Direction,
  recordsAccepted: boolean
): (schema: Schema) => object {
  const marker = markers[direction]

  /** Whether the check of a branch has nothing to record. */
  function isPlain (branch: unknown): boolean {
    if (direction !== 'request' || recordsAccepted) return false
    return !isSchemaObject(branch) || !containsInt64(branch, schemas)
  }

  function isHidden (schema: unknown): boolean {
    if (!isSchemaObject(schema)) return false
    if (schema[marker] === true || isHidden(referenced(schemas, schema))) return true
    return composing.some(keyword => (schema[keyword] as Schema[] | undefined)?.some(isHidden))
  }

  function hiddenMembers ({ properties = {} }: Schema): string[] {
    const members = Object.entries(properties as object)
    return members.filter(([, member]) => isHidden(member)).map(([name]) => name)
  }

  /** The members that an object must have, but that no schema describes: they are sent, too. */
  function requiredOnly (schema: Schema): string[] {
    const parts = [...composedSchemas(schema, schemas)]
    const described = new Set(parts.flatMap(({ properties = {} }) => {
      return Object.keys(properties as object)
    }))
    const names = parts.flatMap(({ required = [], dependentRequired = {} }) => {
      return [required as string[], ...Object.values(dependentRequired as object)].flat()
    })
    return names.filter(name => !described.has(name))
  }

  /** @param inherited names of members that the schema around an allOf hides */
  function rewrite (schema: unknown, inherited: string[], isTest: boolean): unknown {
    if (!isSchemaObject(schema)) return schema
    // `required` may name a member that another schema of the same allOf declares.
    const composed = [...composedSchemas(schema, schemas, ['allOf'])]
    const hidden = [...inherited, ...composed.flatMap(hiddenMembers)]
    const required = composed.flatMap(({ required = [] }) => required)
    const tag = tagName(schema, schemas)
    const changed = mapSubschemas(schema, (keyword, subschema, name) => {
      if (keyword === 'properties' && hidden.includes(name)) return false
      if (unnamedMembers.includes(keyword) && isHidden(subschema)) return false
      const inheriting = keyword === 'allOf' ? hidden : []
      const inner = rewrite(subschema, inheriting, isTest || tests.includes(keyword))
      if (keyword === 'contains') return { containsBranch: inner }
      if (branches.includes(keyword)) {
        const branch = tag === undefined ? inner : withTagCheck(inner, tag, subschema, schemas)
        return { branch, isPlain: isPlain(subschema) }
      }
      const mayBeAbsent = keyword === 'properties' && !required.includes(name)
      // For messages.
      return mayBeAbsent && isSchemaObject(inner) ? { ...inner, mayBeAbsent } : inner
    })
    const rewritten = withoutIneffectiveKeywords(changed)
    // For messages, like the name of a discriminator.
    if (tag !== undefined) rewritten.discriminatorName ??= tag
    avoidFaultsOfAjv(rewritten)
    if (referenced(schemas, schema) !== undefined) {
      rewritten.$ref = toSchemaId(schema.$ref as string)
    }
    if (Array.isArray(schema.required)) {
      rewritten.required = schema.required.filter(name => !hidden.includes(name))
    }
    return isTest ? rewritten : addDescription(schema, rewritten, hidden, composed)
  }

  /** Adds the words that only a schema that describes the value needs. */
  function addDescription (
    schema: Schema,
    rewritten: Record<string, unknown>,
    hidden: string[],
    composed: Schema[]
  ): object {
    // A schema that lists members means an object, and so does its TypeScript type.
    if ('properties' in schema) rewritten.type ??= 'object'
    if (direction !== 'request' && composed.some(describesObjects)) {
      const undescribed = requiredOnly(schema)
      if (describesObjects(schema) || undescribed.length > 0) {
        rewritten.declares = declaredMembers(schema, hidden, undescribed)
      }
    }
    return isInt64(schema) ? toInt64Keyword(rewritten) : rewritten
  }

  return schema => rewrite(schema, [], false) as object
}

/**
 * Removes keywords that validate nothing: OpenAPI's (section 4.8.24.1), extensions, and keywords
 * without their partner. Keeps the discriminator's name for messages.
 */
function withoutIneffectiveKeywords (schema: Record<string, unknown>): Record<string, unknown> {
  const ineffective = ['discriminator', 'example', 'externalDocs', 'xml']
  if (!('if' in schema)) ineffective.push('then', 'else')
  if (!('contains' in schema)) ineffective.push('minContains', 'maxContains')
  const kept = pick(schema, keyword => {
    return !ineffective.includes(keyword) && !keyword.startsWith('x-')
  })
  const { discriminator } = schema
  if (isSchemaObject(discriminator)) kept.discriminatorName = discriminator.propertyName
  return kept
}

function avoidFaultsOfAjv (schema: Record<string, unknown>): void {
  // ajv skips `if` without the others, but unevaluated keywords need its result.
  if ('if' in schema) schema.then = { allOf: [schema.then ?? true] }
}

function describesObjects (schema: Schema): boolean {
  const isObject = [schema.type].flat().includes('object')
  const isOpen = 'unevaluatedProperties' in schema
  return isObject || isOpen || memberKeywords.some(keyword => keyword in schema)
}

/** @param further names that the schema declares beside its properties */
export function declaredMembers (
  schema: Schema,
  hidden: string[],
  further: string[] = []
): Declared {
  const { properties = {}, patternProperties = {} } = schema
  const { additionalProperties = false, unevaluatedProperties = false } = schema
  const names = [...Object.keys(properties as object), ...further]
  return {
    names: new Set(names.filter(name => !hidden.includes(name))),
    patterns: Object.keys(patternProperties as object).map(source => new RegExp(source, 'u')),
    any: additionalProperties !== false || unevaluatedProperties !== false
  }
}
