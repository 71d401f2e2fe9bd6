// Integers of format int64, exactly: ajv's own keywords know only doubles (ajv#1116), so a keyword of ours takes their place.
import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv'
import { integerAt } from './json.ts'

/** Where a valid value holds an int64 as a double, and the integer to put there. */
export interface Integer { holder: Record<string, unknown>, key: string | number, integer: bigint }

const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum', 'const'] as const
type Rule = { types: string[], enum?: Array<number | null> } & { [Word in Exclude<typeof bounds[number], 'enum'>]?: number }

export function isInt64 (schema: Readonly<Record<string, unknown>>): boolean {
  return schema.format === 'int64' && [schema.type].flat().includes('integer')
}

/** Rewrites `type: integer, format: int64` and its bounds to the keyword int64. */
export function toInt64Keyword ({ type, format, ...rest }: Readonly<Record<string, unknown>>): object {
  const isBound = ([word]: [string, unknown]) => (bounds as readonly string[]).includes(word)
  const words = Object.entries(rest)
  return { ...Object.fromEntries(words.filter(word => !isBound(word))), int64: { types: [type].flat(), ...Object.fromEntries(words.filter(isBound)) } }
}

/** The keyword; what it finds valid and not yet exact it adds to `found`. */
export function int64Keyword (found: object[]): FuncKeywordDefinition {
  return {
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
        if (integer !== undefined && typeof value === 'number') found.push({ holder, key, integer } satisfies Integer)
        return message === undefined
      }
      return check
    }
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
