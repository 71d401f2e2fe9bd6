// Bytes to JSON without losing anything: strict UTF-8, and integers that a double cannot hold.
import { ServiceError } from '../../errors.ts'

declare global {
  // ECMA-262, JSON.parse source text access; TypeScript 5.9 does not know it yet.
  interface JSON {
    parse (text: string, reviver: (this: object, key: string, value: unknown, context: { source?: string }) => unknown): unknown
    rawJSON (text: string): object
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

// Only a number of sixteen digits or with an exponent can differ from its double; only an escape can make half a
// surrogate pair. Text without them, nearly all of it, is parsed at full speed.
const needsCare = /\d(?:[\d.]{15}|[eE][-+\d])|\\u[dD][89a-fA-F]/

/** The exact integers of parsed objects and arrays, by member, where the double may be another number; undefined: no integer. */
const exactIntegers = new WeakMap<object, Map<string, bigint | undefined>>()

/** A JSON value in a holder, which lets even a value that is a mere number be exact and be replaced. */
export interface Parsed { '': unknown }

/**
 * Parses a JSON text (RFC 8259). Numbers are doubles, as everywhere in JavaScript; integerAt() tells the integer that
 * was written. A byte order mark is ignored; of members of the same name the last one counts.
 * @param subject what the bytes are to whoever sent them
 * @throws ServiceError `invalid` when the bytes are not UTF-8, not JSON, or name half of a surrogate pair (RFC 7493, section 2.1)
 */
export function parseJson (bytes: Uint8Array, subject = 'The body'): Parsed {
  const text = decode(bytes, subject)
  try {
    return needsCare.test(text) ? parseExactly(text, subject) : { '': JSON.parse(text) }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('invalid', error instanceof SyntaxError
      ? `${subject} is not valid JSON: ${error.message}.`
      : `${subject} is nested too deeply.`)
  }
}

/**
 * The integer at `holder[key]` as it was written, or undefined when it was no integer or one beyond 19 digits.
 * @param holder an object or array that parseJson() made, or one that was made otherwise and holds bigints or doubles
 */
export function integerAt (holder: object, key: string | number, value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value !== 'number') return undefined
  const exact = exactIntegers.get(holder)
  if (exact?.has(String(key))) return exact.get(String(key))
  return Number.isSafeInteger(value) ? BigInt(value) : undefined
}

/**
 * A value with doubles for its bigints, which integerAt() knows exactly: what is to be validated, as ajv's keywords know no
 * bigint. Without any it is the value itself.
 */
export function withDoubles<Value> (value: Value): Value {
  if (typeof value === 'bigint') return Number(value) as Value
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value
  const entries = Object.entries(value).map(([key, member]) => ({ key, member, double: withDoubles(member) }))
  if (entries.every(({ member, double }) => member === double)) return value
  const copy: Record<string, unknown> = Array.isArray(value) ? [...value] as never : { ...value as object }
  const integers = new Map<string, bigint | undefined>()
  for (const { key, member, double } of entries) {
    copy[key] = double
    if (typeof member === 'bigint') integers.set(key, member)
  }
  exactIntegers.set(copy, integers)
  return copy as Value
}

function decode (bytes: Uint8Array, subject: string): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ServiceError('invalid', `${subject} is not valid UTF-8.`)
  }
}

function parseExactly (text: string, subject: string): Parsed {
  let holder: object | undefined
  // The reviver is called on the holder of the whole value last (ECMA-262, InternalizeJSONProperty).
  JSON.parse(text, function (this: object, key, value, context) {
    holder = this
    return keepExact(this, key, value, context, subject)
  })
  return holder as Parsed
}

function keepExact (holder: object, key: string, value: unknown, { source }: { source?: string }, subject: string): unknown {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) {
    throw new ServiceError('invalid', `${subject} has half of a surrogate pair in a string, which is not text.`)
  }
  if (typeof value === 'number' && Number.isInteger(value) && source !== undefined) {
    const members = exactIntegers.get(holder) ?? new Map<string, bigint | undefined>()
    exactIntegers.set(holder, members.set(key, exactInteger(source)))
  }
  return value
}

/** The integer that a JSON number (RFC 8259, section 6) denotes, as in `12`, `12.0` or `1.2e1`, or undefined when it has a fraction or over 19 digits. */
function exactInteger (source: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(source) as RegExpExecArray
  const digits = (whole + fraction).replace(/^0+/, '')
  // Not a regular expression: trimming a run of zeros in the middle would take quadratic time.
  let length = digits.length
  while (digits[length - 1] === '0') length--
  const zeros = Number(exponent) - fraction.length + digits.length - length
  if (length === 0) return 0n
  if (zeros < 0 || length + zeros > 19) return undefined
  return BigInt(sign + digits.slice(0, length) + '0'.repeat(zeros))
}
