// Describes ajv's errors for readers who do not know the schema.
import type { ErrorObject } from 'ajv'
import { mustBe } from './allowed-values.ts'
import type { Fault } from './json.ts'

/** The most specific of the faults that ajv found. */
export function explain (errors: ErrorObject[]): Fault {
  return toFault(causesOf(errors)[0] as ErrorObject)
}

/** The faults that ajv found with allErrors: for a union the most specific one. */
export function explainAll (errors: ErrorObject[]): Fault[] {
  return causesOf(errors).map(toFault)
}

/** These errors only repeat that there are errors inside. */
const repeating = ['if', 'propertyNames']

/** The errors that say something of their own: of a union one. */
export function causesOf (errors: ErrorObject[]): ErrorObject[] {
  const found = errors.filter(({ keyword }) => !repeating.includes(keyword)).map(causeOf)
  const causes = found.filter(error => !isConsequence(error))
  // recursion.ts gives the same error to each schema that repeats its check.
  return [...new Set(causes.length > 0 ? causes : found)]
}

/** What ajv-keywords.ts adds to the error of a union. */
interface UnionParams { matches: number, inside: ErrorObject[] }

/** Branches are named if they are no more. */
const maxNamed = 3

/** Whether an error has a reason that is another error. */
function isConsequence ({ keyword, data, parentSchema }: ErrorObject): boolean {
  // Members that a faulty schema would have evaluated count as unevaluated.
  if (keyword === 'unevaluatedProperties' || keyword === 'unevaluatedItems') return true
  if (keyword !== 'format' || typeof data !== 'number' || Number.isInteger(data)) return false
  // ajv checks format int32 of a fraction, too.
  const types = [parentSchema?.type].flat()
  return types.includes('integer') && !types.includes('number')
}

function toFault (error: ErrorObject): Fault {
  const { instancePath, propertyName: name, params } = error
  const start = name === undefined ? '' : `has the member "${shorten(name)}", whose name `
  const problem = start + describe(error) + adviceFor(error)
  const fault: Fault = { path: shorten(instancePath.slice(1)), problem }
  const member = params.missingProperty ?? params.additionalProperty
  if (member !== undefined) fault.member = shorten(member)
  return fault
}

/** Characters of a name or a path in an error: those of a body may be as long as the body. */
const maxShown = 256

/** Keeps the end, too: it tells the members of an object apart. */
export function shorten (text: string): string {
  if (text.length <= maxShown) return text
  return `${text.slice(0, maxShown / 2)}…${text.slice(-maxShown / 2)}`.toWellFormed()
}

const known = new WeakMap<ErrorObject, ErrorObject>()

/** Of a union the fault in the branch that the value matches best, if one does. */
function causeOf (error: ErrorObject): ErrorObject {
  const { matches, inside } = error.params as UnionParams
  // Several branches of oneOf match.
  if (inside === undefined || matches > 0) return error
  const cause = known.get(error) ?? faultOfUnion(error, branchesOf(error, inside))
  // A cause may be a union, too: a schema around it that contains itself asks for its cause again.
  known.set(error, cause).set(cause, cause)
  return cause
}

function faultOfUnion (union: ErrorObject, branches: Branch[]): ErrorObject {
  const { length } = union.instancePath
  // Errors of a branch are at the place of the union or inside: lengths of paths tell which.
  const isInside = ({ instancePath }: ErrorObject) => instancePath.length > length
  const ofKind = branches.filter(([first]) => {
    return isInside(first) || !['type', 'enum', 'const'].includes(first.keyword)
  })
  if (ofKind.length === 0) return withTypes(union, branches)
  const isMiss = missFinder(union)
  const selected = ofKind.filter(errors => !errors.some(isMiss))
  if (selected.length === 0) return withValues(ofKind.flat().filter(isMiss))
  if (areAlike(selected)) return selected.flat()[0] as ErrorObject
  // A member with another value may only mean another branch.
  const isOther = ({ keyword }: ErrorObject) => keyword === 'enum' || keyword === 'const'
  const cause = selected.flat().find(error => isInside(error) && !isOther(error))
  const reasons = selected.map(([first]) => first)
  return cause ?? { ...union, params: { ...union.params, reasons } }
}

type Branch = [first: ErrorObject, ...others: ErrorObject[]]

/** The errors of each branch: the last error of a branch is about the branch. */
function branchesOf ({ schema }: ErrorObject, errors: ErrorObject[]): Branch[] {
  const branches: Branch[] = []
  let start = 0
  for (const [index, { keyword, parentSchema }] of errors.entries()) {
    if (keyword !== 'branch' || !(schema as unknown[]).includes(parentSchema)) continue
    branches.push(causesOf(errors.slice(start, index + 1)) as Branch)
    start = index + 1
  }
  return branches
}

/** Whether the first faults of all branches are the same. */
function areAlike (branches: Branch[]): boolean {
  if (branches.every(([first]) => first === branches[0]?.[0])) return true
  const faults = branches.map(([first]) => JSON.stringify(toFault(first)))
  return new Set(faults).size === 1
}

/** The fault of a value that has none of the types of a union, if those tell its branches apart. */
function withTypes (union: ErrorObject, branches: Branch[]): ErrorObject {
  if (branches.some(([{ keyword }]) => keyword !== 'type')) return union
  const types = new Set(branches.flatMap(([{ params }]) => params.type))
  return { ...union, keyword: 'type', params: { type: [...types] } }
}

/** The fault of a member that selects no branch. */
function withValues (misses: ErrorObject[]): ErrorObject {
  const [first] = misses as [ErrorObject]
  if (first.keyword === 'required') return first
  const allowedValues = new Set<unknown>()
  for (const { params } of misses) {
    for (const value of params.allowedValues ?? [params.allowedValue]) allowedValues.add(value)
  }
  return { ...first, keyword: 'enum', params: { allowedValues: [...allowedValues] } }
}

/**
 * Returns a function that says whether an error inside of a union is that the member which selects
 * a branch does not select its branch.
 */
function missFinder ({ instancePath: place, parentSchema }: ErrorObject) {
  const { discriminatorName: name } = parentSchema as { discriminatorName?: string }
  const path = `${place}/${name}`
  return ({ keyword, instancePath, params }: ErrorObject): boolean => {
    if (keyword === 'required') {
      return instancePath.length === place.length && params.missingProperty === name
    }
    return ['enum', 'const', 'not'].includes(keyword) && instancePath === path
  }
}

const notInt32 = 'must be an integer from -2147483648 to 2147483647'
const ofForms = 'of the forms that the contract declares'

function describe (error: ErrorObject): string {
  const { keyword, params, message, parentSchema, instancePath } = error
  switch (keyword) {
    case 'type': return `must be ${[params.type].flat().map(withArticle).join(' or ')}`
    case 'required': return `must have the member "${params.missingProperty}"`
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
    case 'format': return params.format === 'int32' ? notInt32 : String(message)
    case 'pattern': return describePattern(params.pattern, parentSchema)
    default: return String(message)
  }
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

/** What to do about a null and about quotes where another type is wanted. */
function adviceFor ({ keyword, params, data, parentSchema }: ErrorObject): string {
  if (!['type', 'int64'].includes(keyword)) return ''
  if (data === null) return parentSchema?.mayBeAbsent ? ', not null: leave it out' : ', not null'
  if (typeof data !== 'string') return ''
  const types = keyword === 'int64' ? ['integer'] : [params.type].flat()
  const isQuoted = types.some(type => unquoted[type]?.test(data))
  return isQuoted ? ', not a string: remove its quotes' : ''
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
