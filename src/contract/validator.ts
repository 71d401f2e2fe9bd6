// JSON Schema 2020-12 by ajv, strict and without coercion, and int64 exactly.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ErrorObject, FuncKeywordDefinition, SchemaValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { integerAt } from './json.ts'

/** Says what is wrong with a value, and where (a JSON pointer without its first slash), or undefined when it is valid. */
export type Validate = (value: unknown) => { path: string, problem: string } | undefined

/**
 * A compiler of schemas that may refer to the contract's components as `Name#`. What it compiles replaces, in a valid
 * value, every integer of format int64 by a bigint.
 * @param components the contract's schemas by name
 * @throws Error, from it or the compiler, when a schema is not valid JSON Schema 2020-12
 */
export function createValidator (components: Readonly<Record<string, object>>): (schema: object) => Validate {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true })
  addFormats.default(ajv)
  ajv.addKeyword(int64)
  ajv.addVocabulary(wordsOfOpenApi(components))
  for (const [name, schema] of Object.entries(components)) ajv.addSchema({ $id: name, ...exactly(schema) })
  return schema => {
    const validate = ajv.compile(exactly(schema))
    return value => {
      conversions = []
      if (!validate(value)) {
        const [{ instancePath, message }] = validate.errors as [ErrorObject]
        return { path: instancePath.slice(1), problem: String(message) }
      }
      for (const { holder, key, integer } of conversions) holder[key] = integer
      return undefined
    }
  }
}

/** Integers to put in place once the whole value is valid: until then other keywords may want to see the double. */
let conversions: Array<{ holder: Record<string, unknown>, key: string | number, integer: bigint }> = []

/** The words that OpenAPI 3.1 adds to JSON Schema (section 4.8.24) and the extensions in use. They validate nothing. */
function wordsOfOpenApi (components: object): string[] {
  const extensions = JSON.stringify(components).matchAll(/"(x-[^"]+)":/g).map(([, word = '']) => word)
  return [...new Set(['discriminator', 'example', 'externalDocs', 'xml', ...extensions])]
}

const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum', 'const'] as const
type Rule = { types: string[], enum?: Array<number | null> } & { [Word in Exclude<typeof bounds[number], 'enum'>]?: number }

/** Rewrites `type: integer, format: int64` and its bounds to the keyword int64: ajv's own know only doubles (ajv#1116). */
function exactly (schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) => isInt64(value) ? toKeyword(value) : value) as object
}

function isInt64 (schema: unknown): schema is Record<string, unknown> {
  return typeof schema === 'object' && schema !== null && 'format' in schema && schema.format === 'int64' &&
    'type' in schema && [schema.type].flat().includes('integer')
}

function toKeyword ({ type, format, ...rest }: Record<string, unknown>): object {
  const rule: Record<string, unknown> = { types: [type].flat() }
  for (const word of bounds) {
    if (word in rest) rule[word] = rest[word]
    delete rest[word]
  }
  return { ...rest, int64: rule }
}

const int64: FuncKeywordDefinition = {
  keyword: 'int64',
  schemaType: 'object',
  compile (rule: Rule) {
    const check: SchemaValidateFunction = (value: unknown, context) => {
      if (context === undefined || (value === null && rule.types.includes('null'))) return true
      const { parentData: holder, parentDataProperty: key } = context
      const integer = integerAt(holder, key, value)
      const message = problemWith(integer, rule)
      check.errors = message === undefined ? [] : [{ keyword: 'int64', message, params: {} }]
      if (integer !== undefined && typeof value === 'number') conversions.push({ holder, key, integer })
      return message === undefined
    }
    return check
  }
}

/** A bigint and a number compare by value, exactly (ECMA-262, BigInt::lessThan and section 7.2.12). */
function problemWith (integer: bigint | undefined, rule: Rule): string | undefined {
  if (integer === undefined || BigInt.asIntN(64, integer) !== integer) {
    return 'must be an integer from -9223372036854775808 to 9223372036854775807'
  }
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = rule
  const allowed = rule.const === undefined ? rule.enum : [rule.const]
  if (minimum !== undefined && integer < minimum) return `must be >= ${minimum}`
  if (maximum !== undefined && integer > maximum) return `must be <= ${maximum}`
  if (exclusiveMinimum !== undefined && integer <= exclusiveMinimum) return `must be > ${exclusiveMinimum}`
  if (exclusiveMaximum !== undefined && integer >= exclusiveMaximum) return `must be < ${exclusiveMaximum}`
  if (multipleOf !== undefined && integer % BigInt(multipleOf) !== 0n) return `must be multiple of ${multipleOf}`
  if (allowed !== undefined && !allowed.some(value => value !== null && BigInt(value) === integer)) return `must be one of ${allowed.join(', ')}`
  return undefined
}
