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
  const ajv = new Ajv2020({ verbose: true, strict: true, strictRequired: false, allowUnionTypes: true })
  addFormats.default(ajv)
  ajv.addKeyword(int64)
  ajv.addVocabulary(wordsOfOpenApi(components))
  for (const [name, schema] of Object.entries(components)) ajv.addSchema({ $id: name, ...exactly(schema) })
  return schema => {
    const validate = ajv.compile(exactly(schema))
    return value => {
      conversions = []
      if (!validate(value)) {
        const [error] = validate.errors as [ErrorObject]
        return { path: error.instancePath.slice(1), problem: explain(error) }
      }
      for (const { holder, key, integer } of conversions) holder[key] = integer
      return undefined
    }
  }
}

/** What ajv says, for people who do not know the schema. */
function explain ({ keyword, params, message, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'type': return `must be ${[params.type].flat().map(type => /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`).join(' or ')}`
    case 'required': return `must have the member "${params.missingProperty}"`
    // What a pattern means is for its author to say.
    case 'pattern': return `${message}${parentSchema?.description === undefined ? '' : `: ${parentSchema.description.replace(/\.$/, '')}`}`
    default: return String(message)
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
    const problemWith = int64Rule(rule)
    const check: SchemaValidateFunction = (value: unknown, context) => {
      if (context === undefined || (value === null && rule.types.includes('null'))) return true
      const { parentData: holder, parentDataProperty: key } = context
      const integer = integerAt(holder, key, value)
      const message = problemWith(integer)
      check.errors = message === undefined ? [] : [{ keyword: 'int64', message, params: {} }]
      if (integer !== undefined && typeof value === 'number') conversions.push({ holder, key, integer })
      return message === undefined
    }
    return check
  }
}

/**
 * What is wrong with an integer, by a rule. A bigint and a number compare by value, exactly (ECMA-262, BigInt::lessThan).
 * @throws Error when the rule asks for what no int64 can be, or cannot be exact
 */
function int64Rule (rule: Rule): (integer: bigint | undefined) => string | undefined {
  if (rule.types.some(type => type !== 'integer' && type !== 'null')) throw new Error(`format int64 is for integers, not for ${rule.types.join(' or ')}`)
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = rule
  const numbers = [rule.enum, rule.const, rule.multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum].flat()
  // YAML and JSON readers round the number before anybody here sees it.
  const rounded = numbers.find(number => typeof number === 'number' && !Number.isSafeInteger(number))
  if (rounded !== undefined) throw new Error(`${rounded} beside format int64 is not an integer between -2^53 and 2^53, beyond which a contract's numbers are rounded`)
  const step = rule.multipleOf === undefined ? undefined : BigInt(rule.multipleOf)
  if (step === 0n) throw new Error('multipleOf must be greater than 0')
  const allowed = rule.const === undefined ? rule.enum : [rule.const]
  return integer => {
    if (integer === undefined || BigInt.asIntN(64, integer) !== integer) return 'must be an integer from -9223372036854775808 to 9223372036854775807'
    if (minimum !== undefined && integer < minimum) return `must be >= ${minimum}`
    if (maximum !== undefined && integer > maximum) return `must be <= ${maximum}`
    if (exclusiveMinimum !== undefined && integer <= exclusiveMinimum) return `must be > ${exclusiveMinimum}`
    if (exclusiveMaximum !== undefined && integer >= exclusiveMaximum) return `must be < ${exclusiveMaximum}`
    if (step !== undefined && integer % step !== 0n) return `must be a multiple of ${step}`
    if (allowed !== undefined && !allowed.some(value => value !== null && BigInt(value) === integer)) return `must be one of ${allowed.join(', ')}`
    return undefined
  }
}
