// Says what is wrong with a value, for readers who do not know the schema.
import type { ErrorObject } from 'ajv'
import type { Fault } from './json.ts'

/** What ajv-keywords.ts adds to the error of a union. */
export interface UnionParams { matches: number, inside: ErrorObject[] }

export function toFault (error: ErrorObject): Fault {
  const { instancePath, propertyName: name, params } = error
  const start = name === undefined ? '' : `has the member "${shorten(name)}", whose name `
  const problem = start + describe(error) + adviceFor(error)
  const fault: Fault = { path: shorten(instancePath.slice(1)), problem }
  const member = params.missingProperty ?? params.additionalProperty ?? params.child
  if (typeof member === 'string') fault.member = shorten(member)
  return fault
}

/** Characters of a name or a path in an error: those of a body may be as long as the body. */
const maxShown = 256

/** Keeps the end, too: it tells the members of an object apart. */
export function shorten (text: string): string {
  if (text.length <= maxShown) return text
  return `${text.slice(0, maxShown / 2)}…${text.slice(-maxShown / 2)}`.toWellFormed()
}

/** Branches are named if they are no more. */
const maxNamed = 3

const notInt32 = 'must be an integer from -2147483648 to 2147483647'
const ofForms = 'of the forms that the contract declares'

function describe (error: ErrorObject): string {
  const { keyword, params, message, parentSchema, instancePath, data } = error
  switch (keyword) {
    case 'type': return `must be ${[params.type].flat().map(withArticle).join(' or ')}`
    case 'required': return mustHave(params.missingProperty, Object.keys(data as object))
    case 'enum': return mustBe(params.allowedValues)
    case 'const': return mustBe([params.allowedValue])
    case 'additionalProperties':
      return `must not have the member "${shorten(params.additionalProperty)}"`
    case 'unevaluatedProperties': return `must not have the member "${shorten(params.child)}"`
    case 'unevaluatedItems': return `must not have the item ${params.child}`
    case 'false schema': return 'must not be sent'
    case 'anyOf':
    case 'oneOf':
      if (params.matches > 0) return `matches more than one ${ofForms}`
      return `matches none ${ofForms}${listReasons(params.reasons, instancePath)}`
    case 'dependentRequired':
      return `must have the member "${params.missingProperty}" beside "${params.property}"`
    case 'contains': return describeCount(params as Count)
    // `false` after `prefixItems`.
    case 'items': return mustKeep('maxItems', params.limit)
    case 'not': return 'has a form that the contract excludes'
    case 'format': return describeFormat(params.format)
    case 'pattern': return describePattern(params.pattern, parentSchema)
    default: return keyword in bounds ? mustKeep(keyword, params.limit) : String(message)
  }
}

/** @param sent the names of the members that are there, one of which may differ in its capitals */
function mustHave (member: string, sent: string[]): string {
  const lower = member.toLowerCase()
  const similar = sent.find(name => name.length === lower.length && name.toLowerCase() === lower)
  return `must have the member "${member}"${similar === undefined ? '' : `, not "${similar}"`}`
}

const bounds: Readonly<Record<string, [relation: string, noun?: string]>> = {
  minimum: ['at least'],
  maximum: ['at most'],
  exclusiveMinimum: ['more than'],
  exclusiveMaximum: ['less than'],
  minLength: ['at least', 'character'],
  maxLength: ['at most', 'character'],
  minItems: ['at least', 'item'],
  maxItems: ['at most', 'item'],
  minProperties: ['at least', 'member'],
  maxProperties: ['at most', 'member']
}

/** @param bound the keyword of a bound of a number, a length or a count */
export function mustKeep (bound: string, limit: number): string {
  const [relation, noun] = bounds[bound] as typeof bounds[string]
  if (noun === undefined) return `must be ${relation} ${limit}`
  return `must have ${relation} ${limit} ${noun}${limit === 1 ? '' : 's'}`
}

/** How many items must be what `contains` describes. */
interface Count { least: number, most: number | null }

function describeCount ({ least, most }: Count): string {
  const count = most === null ? `at least ${least}` : `${least} to ${most}`
  return `must have ${count} of the items that the contract asks for`
}

/** Texts of formats that are known by their names only to those who know the standards. */
const examples: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  time: '12:30:00Z',
  'date-time': '2026-01-31T12:30:00Z',
  duration: 'P1DT12H',
  uri: 'https://example.com/a',
  'uri-reference': '/a?b=1',
  url: 'https://example.com/a',
  email: 'name@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
  byte: 'aGVsbG8=',
  'json-pointer': '/a/0'
}

function describeFormat (format: string): string {
  if (format === 'int32') return notInt32
  const example = Object.hasOwn(examples, format) ? `, such as ${examples[format]}` : ''
  return `must have the format ${format}${example}`
}

/** Why a value of few forms has none of them. */
function listReasons (reasons: ErrorObject[] = [], place: string): string {
  if (reasons.length === 0 || reasons.length > maxNamed) return ''
  // A union of unions would repeat the sentence.
  if (reasons.some(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) return ''
  const sentences = reasons.map(error => {
    const inside = shorten(error.instancePath.slice(place.length + 1))
    return (inside === '' ? 'it ' : `"${inside}" in it `) + toFault(error).problem
  })
  return `: ${[...new Set(sentences)].join(', or ')}`
}

/** Texts without their quotes, by the type that they have then. */
const unquoted: Readonly<Record<string, RegExp>> = {
  integer: /^-?(?:0|[1-9]\d*)$/,
  number: /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/,
  boolean: /^(?:true|false)$/,
  // JSON that was encoded twice.
  object: /^\{[^]*\}$/,
  array: /^\[[^]*\]$/
}

/** A time whose offset began with a plus, which is a blank in the query of an address. */
const withBlankOffset = /T[\d:.]+ \d\d:\d\d$/

/** What to do about a value of another type, such as null or a number in quotes. */
function adviceFor ({ keyword, params, data, parentSchema }: ErrorObject): string {
  if (keyword === 'format' && withBlankOffset.test(String(data))) return ': send its + as %2B'
  if (!['type', 'int64'].includes(keyword)) return ''
  if (data === null) return parentSchema?.mayBeAbsent ? ', not null: leave it out' : ', not null'
  if (Array.isArray(data)) return ', not an array'
  if (typeof data === 'object') return ', not an object'
  if (typeof data === 'boolean') return ', not a boolean'
  const types = keyword === 'int64' ? ['integer'] : [params.type].flat()
  if (typeof data === 'number') {
    // JSON has larger ones, such as 1e400.
    if (types.includes('number')) return ' within the range of a double'
    return types.includes('string') ? ', not a number: put it in quotes' : ''
  }
  // In an answer: a request has a bigint only where the schema has an int64.
  const isForNumber = keyword === 'type' && /integer|number/.test(String(types))
  if (typeof data === 'bigint' && isForNumber) return ', not a bigint: convert it by Number()'
  if (typeof data !== 'string') return ''
  const isQuoted = types.some(type => unquoted[type]?.test(data))
  if (isQuoted) return ', not a string: remove its quotes'
  return String(types) === 'boolean' ? ': true or false' : ''
}

/** Any text without one character, such as U+0000, which PostgreSQL does not store. */
const withoutCharacter = /^\^\[\^\\(?:x|u00)([0-9a-f]{2})\]\*\$$/i

/** Adds the schema's description, because other patterns do not explain themselves. */
function describePattern (pattern: string, schema: ErrorObject['parentSchema']): string {
  const [, code] = withoutCharacter.exec(pattern) ?? []
  if (code !== undefined) return `must not contain the character U+00${code.toUpperCase()}`
  const meaning = schema?.description?.replace(/\.$/, '')
  return `must match pattern "${pattern}"${meaning === undefined ? '' : `: ${meaning}`}`
}

function withArticle (type: string): string {
  if (type === 'null') return type
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}

/** What is wrong with any other value. */
export function mustBe (values: readonly unknown[]): string {
  const listed = values.map(value => JSON.stringify(value)).join(', ')
  return values.length === 1 ? `must be ${listed}` : `must be one of ${listed}`
}
