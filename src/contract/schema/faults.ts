// Describes ajv's errors for readers who do not know the schema.
import type { ErrorObject } from 'ajv'
import type { Fault } from './json.ts'

/** The most specific of the faults that ajv found. */
export function explain (errors: ErrorObject[]): Fault {
  return toFault(mostSpecific(withoutContainsBranches(errors)))
}

/** An item that `contains` does not match is no fault: other items may match it. */
function withoutContainsBranches (errors: ErrorObject[]): ErrorObject[] {
  return errors.filter(({ keyword }) => keyword !== 'containsBranch')
}

const unions = ['anyOf', 'oneOf']
/** These errors only repeat that there are errors inside. */
const repeating = ['if', 'propertyNames']
/** Members that a faulty schema would have evaluated count as unevaluated. */
const consequences = ['unevaluatedProperties', 'unevaluatedItems']

/** The faults that ajv found with allErrors: for a union the most specific one. */
export function explainAll (errors: ErrorObject[]): Fault[] {
  const found: ErrorObject[] = []
  for (const error of withoutContainsBranches(errors)) {
    const inside = found.splice(found.findLastIndex(other => !isInside(other, error)) + 1)
    if (unions.includes(error.keyword)) found.push(mostSpecific([...inside, error]))
    else found.push(...inside)
    if (![...unions, ...repeating].includes(error.keyword)) found.push(error)
  }
  const causes = found.filter(({ keyword }) => !consequences.includes(keyword))
  return (causes.length > 0 ? causes : found).map(toFault)
}

/** Whether an error that ajv found earlier may be the reason of another one. */
function isInside (inner: ErrorObject, outer: ErrorObject): boolean {
  const isSamePlace = inner.instancePath === outer.instancePath
  if (isSamePlace && inner.parentSchema === outer.parentSchema) return false
  return `${inner.instancePath}/`.startsWith(`${outer.instancePath}/`)
}

function toFault (error: ErrorObject): Fault {
  const { instancePath, propertyName: name } = error
  const start = name === undefined ? '' : `has the member "${name}", whose name `
  return { path: instancePath.slice(1), problem: start + describe(error) + adviceFor(error) }
}

/** Without allErrors the last error is the outermost; errors inside unions are more specific. */
function mostSpecific (errors: ErrorObject[]): ErrorObject {
  const outermost = errors.at(-1) as ErrorObject
  const inside = errors.slice(0, -1)
  if (repeating.includes(outermost.keyword)) return mostSpecific(inside)
  if (!unions.includes(outermost.keyword)) return outermost
  const { discriminatorName } = outermost.parentSchema as { discriminatorName?: string }
  if (discriminatorName !== undefined) {
    return inSelectedBranch(inside, `${outermost.instancePath}/${discriminatorName}`, outermost)
  }
  const { length } = outermost.instancePath
  const deeper = inside.find(error => error.instancePath.length > length)
  if (deeper !== undefined) return deeper
  if (inside.length === 0 || !inside.every(({ keyword }) => keyword === 'type')) return outermost
  const types = new Set<string>()
  for (const { params } of inside) for (const type of [params.type].flat()) types.add(type)
  return { ...outermost, keyword: 'type', params: { type: [...types] } }
}

/** The error in the branch that the discriminator selects, or the one of the discriminator. */
function inSelectedBranch (
  errors: ErrorObject[],
  path: string,
  outermost: ErrorObject
): ErrorObject {
  const misses = errors.filter(error => isMiss(error, path))
  const other = errors.find(error => error.keyword !== 'branch' && !misses.includes(error))
  if (other !== undefined) return other
  const [miss] = misses
  if (miss === undefined || miss.keyword === 'required') return miss ?? outermost
  const allowedValues = new Set<unknown>()
  for (const { params } of misses) {
    for (const value of params.allowedValues ?? [params.allowedValue]) allowedValues.add(value)
  }
  return { ...miss, keyword: 'enum', params: { allowedValues: [...allowedValues] } }
}

/** Whether an error says that the discriminator, at this path, does not select its branch. */
function isMiss ({ keyword, instancePath, params }: ErrorObject, path: string): boolean {
  if (keyword === 'required') return `${instancePath}/${params.missingProperty}` === path
  return instancePath === path && ['enum', 'const', 'not'].includes(keyword)
}

/** ajv-rewriter.ts adds this limit. */
const upperLimit = ` and no more than ${Number.MAX_SAFE_INTEGER}`
const ofForms = 'of the forms that the contract declares'

function describe ({ keyword, params, message, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'type': return `must be ${[params.type].flat().map(withArticle).join(' or ')}`
    case 'required': return `must have the member "${params.missingProperty}"`
    case 'enum': return `must be one of ${listed(params.allowedValues)}`
    case 'const': return `must be ${JSON.stringify(params.allowedValue)}`
    case 'additionalProperties': return `must not have the member "${params.additionalProperty}"`
    case 'unevaluatedProperties': return `must not have the member "${params.unevaluatedProperty}"`
    case 'false schema': return 'must not be sent'
    case 'anyOf':
    case 'oneOf':
      return `matches ${params.passingSchemas ? 'more than one' : 'none'} ${ofForms}`
    case 'contains': return String(message).replace(upperLimit, '')
    case 'pattern': return `${message}${meaningOf(parentSchema)}`
    default: return String(message)
  }
}

/** Texts without their quotes, by the type that they have then. */
const unquoted: Readonly<Record<string, RegExp>> = {
  integer: /^-?(?:0|[1-9]\d*)$/,
  number: /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/,
  boolean: /^(?:true|false)$/
}

/** What to do about a null and about quotes where another type is wanted. */
function adviceFor ({ keyword, params, data, parentSchema }: ErrorObject): string {
  if (!['type', 'int64'].includes(keyword)) return ''
  if (data === null) return parentSchema?.mayBeAbsent ? ', not null: leave it out' : ', not null'
  if (typeof data !== 'string') return ''
  const types = keyword === 'int64' ? ['integer'] : [params.type].flat()
  const isQuoted = types.some(type => unquoted[type]?.test(data))
  return isQuoted ? ', not a string: remove its quotes' : ''
}

function listed (values: unknown[]): string {
  return values.map(value => JSON.stringify(value)).join(', ')
}

/** Adds the schema's description, because a pattern does not explain itself. */
function meaningOf (schema: ErrorObject['parentSchema']): string {
  return schema?.description === undefined ? '' : `: ${schema.description.replace(/\.$/, '')}`
}

function withArticle (type: string): string {
  if (type === 'null') return type
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}
