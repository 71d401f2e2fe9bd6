// Validates format int64 exactly: ajv compares doubles (ajv#1116), so our keyword `int64` replaces
// its keywords.
import { _, type CodeKeywordDefinition } from 'ajv'
import { mustBe, mustKeep } from './sentences.ts'
import type { ExactNumbers } from './json.ts'
import { pick } from './members.ts'

/** Where a valid value has an int64, and its exact integer. */
export interface Integer { holder: Record<string, unknown>, key: string | number, integer: bigint }

/** Input: the numbers that a double may round. Output: the int64s found. */
export interface IntegersOfValue { exact: ExactNumbers, integers: Integer[] }

const bounds = [
  'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum', 'const'
] as const
type NumberBound = Exclude<typeof bounds[number], 'enum'>
type Rule = { types: string[], enum?: Array<number | null> } & { [Bound in NumberBound]?: number }

export function isInt64 (schema: Readonly<Record<string, unknown>>): boolean {
  const types = [schema.type].flat()
  return schema.format === 'int64' && (types.includes('integer') || types.includes('number'))
}

/** Rewrites format int64 of an integer or a number, and its bounds, to the keyword int64. */
export function toInt64Keyword (schema: Readonly<Record<string, unknown>>): object {
  const { type, format, ...rest } = schema
  const isBound = (word: string) => (bounds as readonly string[]).includes(word)
  const rule = { types: [type].flat(), ...pick(rest, isBound) }
  return { ...pick(rest, word => !isBound(word)), int64: rule }
}

/** Code, because ajv would build the JSON pointer of every integer for a function, valid or not. */
export const int64Keyword: CodeKeywordDefinition = {
  keyword: 'int64',
  schemaType: 'object',
  error: { message: ({ params }) => _`${params.message}` },
  code (context) {
    const { gen, data, it: { parentData: holder, parentDataProperty: key } } = context
    const check = gen.scopeValue('keyword', { ref: int64Check(context.schema) })
    // `this` is the validation (ajv's option passContext).
    const message = gen.const('message', _`${check}(this, ${holder}, ${key}, ${data})`)
    context.setParams({ message })
    context.fail(_`${message} !== undefined`)
  }
}

/** Returns a function that records a valid int64 and describes the problem of anything else. */
function int64Check (rule: Rule) {
  const problemWith = int64Rule(rule)
  return (
    { exact, integers }: IntegersOfValue,
    holder: Integer['holder'],
    key: Integer['key'],
    value: unknown
  ) => {
    if (value === null && rule.types.includes('null')) return undefined
    const integer = integerAt(holder, key, value, exact)
    // Of requests each number that a double may round is there.
    const isOfAnswer = exact.get(holder)?.has(key) !== true
    if (integer === undefined && isOfAnswer && mayBeRounded(value)) return rounded
    const problem = problemWith(integer)
    if (problem === undefined) integers.push({ holder, key, integer: integer as bigint })
    return problem
  }
}

function mayBeRounded (value: unknown): boolean {
  return Number.isInteger(value) && Math.abs(value as number) < 2 ** 63
}

const rounded = 'is a number beyond 2^53, which may be rounded: give a bigint'
const notInt64 = 'must be an integer from -9223372036854775808 to 9223372036854775807'

/**
 * Describes the problem of an integer. A bigint and a number compare by value, exactly (ECMA-262,
 * BigInt::lessThan).
 * @throws Error when the rule is not for integers or has a number that is not exact
 */
function int64Rule (rule: Rule): (integer: bigint | undefined) => string | undefined {
  checkRule(rule)
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = rule
  const step = rule.multipleOf === undefined ? undefined : BigInt(rule.multipleOf)
  const allowed = rule.const === undefined ? rule.enum : [rule.const]
  return integer => {
    if (integer === undefined || BigInt.asIntN(64, integer) !== integer) return notInt64
    if (minimum !== undefined && integer < minimum) return mustKeep('minimum', minimum)
    if (maximum !== undefined && integer > maximum) return mustKeep('maximum', maximum)
    if (above !== undefined && integer <= above) return mustKeep('exclusiveMinimum', above)
    if (below !== undefined && integer >= below) return mustKeep('exclusiveMaximum', below)
    if (step !== undefined && integer % step !== 0n) return `must be a multiple of ${step}`
    if (allowed === undefined) return undefined
    const isAllowed = allowed.some(value => value !== null && BigInt(value) === integer)
    return isAllowed ? undefined : mustBe(allowed)
  }
}

function checkRule (rule: Rule): void {
  const types = rule.types.join(' or ')
  const isForIntegers = rule.types.every(type => ['integer', 'number', 'null'].includes(type))
  if (!isForIntegers) throw new Error(`format int64 is for integers, not for ${types}`)
  for (const bound of bounds) {
    for (const number of [rule[bound]].flat()) {
      // The YAML or JSON parser has already rounded such a number.
      const isRounded = typeof number === 'number' && !Number.isSafeInteger(number)
      if (!isRounded || isUnrestricting(bound, number)) continue
      const exactRange = "between -2^53 and 2^53, beyond which a contract's numbers are rounded"
      throw new Error(`${number} beside format int64 is not an integer ${exactRange}`)
    }
  }
}

/** The ends of int64 restrict nothing, even rounded, nor does a bound beyond them. */
function isUnrestricting (bound: string, number: number): boolean {
  if (bound === 'minimum') return number <= -(2 ** 63)
  return bound === 'maximum' && number >= 2 ** 63
}

/** The integer at `holder[key]` as it was written; undefined for anything else. */
export function integerAt (
  holder: object,
  key: string | number,
  value: unknown,
  exact: ExactNumbers
): bigint | undefined {
  if (typeof value !== 'number') return undefined
  const written = exact.get(holder)?.get(key)
  if (typeof written === 'string') {
    return isExact(value, written) ? BigInt(value) : exactInteger(written)
  }
  return written ?? (Number.isSafeInteger(value) ? BigInt(value) : undefined)
}

/**
 * Recognizes short sources at a sixth of the cost of exactInteger(). Ten characters have at most
 * eight digits and an exponent: a double rounds no such fraction to an integer other than 0, and no
 * such integer below 10^19, because its odd factor is below 2^53.
 */
function isExact (double: number, source: string): boolean {
  return source.length <= 10 && double !== 0 && Math.abs(double) < 1e19 && Number.isInteger(double)
}

// RFC 8259, section 6.
const jsonNumber = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/

/** The integer of a JSON number such as `1.2e1`; undefined for a fraction or over 19 digits. */
function exactInteger (source: string): bigint | undefined {
  const parts = jsonNumber.exec(source) as RegExpExecArray
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const digits = whole + fraction
  // Loops, because a regular expression takes quadratic time for zeros in the middle.
  let start = 0
  while (digits[start] === '0') start++
  if (start === digits.length) return 0n
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const length = end - start
  const zeros = Number(exponent) - fraction.length + digits.length - end
  if (zeros < 0 || length + zeros > 19) return undefined
  return BigInt(sign + digits.slice(start, end) + '0'.repeat(zeros))
}
