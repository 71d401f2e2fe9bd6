// Parses JSON without rounding: strict UTF-8, and a bigint where a double is inexact.

type Reviver = (this: object, key: string, value: unknown, context: { source?: string }) => unknown
declare global {
  // ECMA-262, JSON.parse source text access; TypeScript 5.9 does not know it yet.
  interface JSON {
    parse (text: string, reviver: Reviver): unknown
    rawJSON (text: string): object
  }
}

/** A problem of a value, as the end of a sentence, and its place: a JSON pointer without the first slash. */
export interface Fault { path: string, problem: string }

/** A fraction that a double rounds to an integer, such as 1.00000000000000000001. */
class RoundedFraction {
  readonly double: number
  constructor (double: number) {
    this.double = double
  }
}

/** The integers that doubles cannot hold, by their object or array and key; undefined for a RoundedFraction. */
export type ExactIntegers = ReadonlyMap<object, ReadonlyMap<string, bigint | undefined>>

export const noExactIntegers: ExactIntegers = new Map()

const utf8 = new TextDecoder('utf-8', { fatal: true })

// Only sixteen digits, an exponent or an escaped surrogate need the reviver; other texts parse at full speed.
const needsReviver = /\d(?:[\d.]{15}|[eE][-+\d])|\\u[dD][89a-fA-F]/

/**
 * Parses a JSON text (RFC 8259). An integer that a double cannot hold becomes a bigint; a validator makes it a double
 * again unless its schema has format int64. A byte order mark is ignored; the last of duplicate members counts.
 * @returns a fault when the bytes are not UTF-8, not JSON, or contain half of a surrogate pair (RFC 7493, section 2.1)
 */
export function parseJson (bytes: Uint8Array): { value: unknown, fault?: undefined } | { fault: Fault } {
  try {
    const text = utf8.decode(bytes)
    return { value: needsReviver.test(text) ? JSON.parse(text, keepExact) : JSON.parse(text) }
  } catch (error) {
    return { fault: { path: '', problem: problemOf(error) } }
  }
}

class LoneSurrogate extends Error {}

function problemOf (error: unknown): string {
  if (error instanceof SyntaxError) return `is not valid JSON${positionIn(error.message)}`
  if (error instanceof LoneSurrogate) return 'contains a lone surrogate in a string'
  return error instanceof RangeError ? 'is nested too deeply' : 'is not valid UTF-8'
}

/** V8's message may quote the text, which must not reach the log: keep only the position. */
function positionIn (message: string): string {
  const [, position] = /at position (\d+)/.exec(message) ?? []
  return position === undefined ? '' : ` at position ${position}`
}

function keepExact (key: string, value: unknown, { source }: { source?: string }): unknown {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) throw new LoneSurrogate()
  if (typeof value !== 'number' || !Number.isInteger(value) || source === undefined) return value
  const integer = exactInteger(source)
  if (integer === undefined) return Number.isSafeInteger(value) ? new RoundedFraction(value) : value
  return Number.isSafeInteger(value) ? value : integer
}

// RFC 8259, section 6.
const jsonNumber = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/

/** The integer that a JSON number denotes, as in `12.0` or `1.2e1`; undefined for a fraction or over 19 digits. */
function exactInteger (source: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = jsonNumber.exec(source) as RegExpExecArray
  const digits = (whole + fraction).replace(/^0+/, '')
  // A loop, because a regular expression takes quadratic time for zeros in the middle.
  let length = digits.length
  while (digits[length - 1] === '0') length--
  const zeros = Number(exponent) - fraction.length + digits.length - length
  if (length === 0) return 0n
  if (zeros < 0 || length + zeros > 19) return undefined
  return BigInt(sign + digits.slice(0, length) + '0'.repeat(zeros))
}

/** Whether a parsed value needs toDoubles(). A loop, because a parsed value may be deeper than the stack. */
export function needsDoubles (value: unknown): boolean {
  const pending = [value]
  for (const item of pending) {
    if (typeof item === 'bigint' || item instanceof RoundedFraction) return true
    if (typeof item === 'object' && item !== null) {
      for (const member of Object.values(item)) pending.push(member)
    }
  }
  return false
}

/** Copies a value with doubles for bigints, which ajv does not support, and lists the exact integers. */
export function toDoubles<Value extends object> (value: Value): { doubles: Value, exact: ExactIntegers } {
  const exact = new Map<object, Map<string, bigint | undefined>>()
  return { doubles: copyWithDoubles(value, exact) as Value, exact }
}

function copyWithDoubles (value: unknown, exact: Map<object, Map<string, bigint | undefined>>): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof RoundedFraction) return value.double
  if (typeof value !== 'object' || value === null || writesItself(value)) return value
  const entries = Object.entries(value).map(([key, member]) => {
    return { key, member, double: copyWithDoubles(member, exact) }
  })
  if (entries.every(({ member, double }) => member === double)) return value
  const copy: Record<string, unknown> = Array.isArray(value) ? [...value] as never : { ...value }
  const integers = new Map<string, bigint | undefined>()
  for (const { key, member, double } of entries) {
    copy[key] = double
    if (typeof member === 'bigint') integers.set(key, member)
    if (member instanceof RoundedFraction) integers.set(key, undefined)
  }
  exact.set(copy, integers)
  return copy
}

/** Whether JSON.stringify() calls a method of the value, as for a Date. A parsed value may have a member toJSON. */
export function writesItself (value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}
