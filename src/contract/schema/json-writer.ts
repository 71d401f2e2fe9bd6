// Validates answers and writes them as JSON without undeclared members.
import fastJson, { type Schema as FastJsonSchema } from 'fast-json-stringify'
import { type Fault, replaceBigints, writesItself } from './json.ts'
import type { Declared } from './ajv-rewriter.ts'
import {
  containsInt64, escapedKey, referenced, type Schema, type Schemas, subschemas
} from './schemas.ts'
import { type Compile, type DeclaredAt, memoizeBySchema } from './validator.ts'

/** An answer that its schema refuses. */
class InvalidAnswer extends Error {
  constructor ({ path, problem }: Fault) {
    super(`the answer${path && ` at ${path}`} ${problem}`)
  }
}

/**
 * Writes an answer as JSON text, without the members that its schema does not declare.
 * @throws InvalidAnswer
 */
export type Write = (answer: unknown) => string

/** Returns a function that builds one writer per schema. */
export function createWriters (schemas: Schemas, compile: Compile): (schema: object) => Write {
  return memoizeBySchema(schema => {
    const validate = compile(schema)
    const stringify = containsInt64(schema as Schema, schemas) ? stringifyBigints : JSON.stringify
    const components = plainComponents(schema as Schema, schemas)
    const fastSchema = schema as unknown as FastJsonSchema
    const fastWriter = components && fastJson(fastSchema, { schema: components })
    return answer => {
      const result = validate({ value: answer })
      if (result.fault !== undefined) throw new InvalidAnswer(result.fault)
      const { hasUndeclared, writesItself, declared } = result
      if (fastWriter !== undefined && !writesItself) return fastWriter(answer)
      if (hasUndeclared || writesItself) return writeDeclared(answer, declared())
      try {
        return stringify(answer)
      } catch {
        // A bigint where no schema has format int64.
        return stringifyBigints(answer)
      }
    }
  })
}

function stringifyBigints (answer: unknown): string {
  return JSON.stringify(replaceBigints(answer, integer => JSON.rawJSON(String(integer))))
}

/** Writes a value that no schema describes, or that breaks its schema. */
export function writeUnchecked (value: unknown): string {
  // Only values that JSON does not have are undefined as text.
  return writeDeclared(value, []) ?? 'null'
}

/** JSON.stringify() without the members that no schema declares, and with bigints as numbers. */
export function writeDeclared (answer: unknown, declared: readonly DeclaredAt[]): string {
  const described = Map.groupBy(declared, ({ pointer }) => pointer)
  const copy = (value: unknown, pointer: string): unknown => {
    if (typeof value === 'bigint') return JSON.rawJSON(String(value))
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item, index) => copy(item, `${pointer}/${index}`))
    const schemas = described.get(pointer)
    // An object that no schema describes may have any members, and a toJSON method.
    if (schemas === undefined && writesItself(value)) return value
    const members: Array<[string, unknown]> = []
    for (const [name, member] of Object.entries(value)) {
      const isDeclared = schemas?.some(({ declared }) => declares(declared, name)) ?? true
      if (isDeclared) members.push([name, copy(member, `${pointer}/${escapedKey(name)}`)])
    }
    return Object.fromEntries(members)
  }
  return JSON.stringify(copy(answer, ''))
}

function declares ({ any, names, patterns }: Declared, name: string): boolean {
  if (any || names.includes(name)) return true
  return patterns.some(pattern => new RegExp(pattern, 'u').test(name))
}

/** Keywords of draft 7 that fast-json-stringify writes exactly, and annotations. */
const plainKeywords = new Set([
  '$ref', 'type', 'properties', 'required', 'items', 'enum', 'const', 'format', 'pattern',
  'minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum',
  'multipleOf', 'minItems', 'maxItems', 'uniqueItems', 'title', 'description', 'example',
  'examples', 'deprecated', 'readOnly', 'externalDocs', 'xml'
])

/** What it merges in another way than JSON Schema beside a reference, or in endless time. */
const unmerged = new Set(['type', 'properties', 'items', 'multipleOf'])

/** Whether a schema without a single type has only values that are written in one way. */
function isScalar (schema: Schema): boolean {
  const { type } = schema
  if (subschemas(schema).length > 0) return false
  if (type === undefined) return 'enum' in schema || 'const' in schema
  return Array.isArray(type) && !type.includes('object') && !type.includes('array')
}

/** The components that a schema refers to; undefined when it or one of them is not plain. */
function plainComponents (schema: Schema, schemas: Schemas) {
  const components: Record<string, FastJsonSchema> = {}
  const isPlain = (schema: Schema): boolean => {
    const { type, format, $ref } = schema
    const words = Object.keys(schema)
    const areKnown = words.every(word => plainKeywords.has(word) || word.startsWith('x-'))
    if (!areKnown || format === 'unsafe') return false
    // fast-json-stringify would take a property that every object inherits for a member.
    if (Object.keys(schema.properties ?? {}).some(name => name in Object.prototype)) return false
    if ($ref === undefined) {
      if (typeof type === 'string') return subschemas(schema).every(([, inner]) => isPlain(inner))
      return isScalar(schema)
    }
    const name = String($ref).replace(/#$/, '')
    const component = name.includes('#') ? undefined : referenced(schemas, schema)
    if (component === undefined || words.some(word => unmerged.has(word))) return false
    if (name in components) return true
    components[name] = component as unknown as FastJsonSchema
    return isPlain(component)
  }
  return isPlain(schema) ? components : undefined
}
