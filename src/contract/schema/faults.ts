// Finds out which of ajv's errors tell what is wrong.
import type { ErrorObject } from 'ajv'
import type { Fault } from './json.ts'
import { toFault, type UnionParams } from './sentences.ts'

/** The most specific of the faults that ajv found. */
export function explain (errors: ErrorObject[]): Fault {
  return toFault(causesOf(errors)[0] as ErrorObject)
}

/** The faults that ajv found with allErrors: for a union the most specific one. */
export function explainAll (errors: ErrorObject[]): Fault[] {
  return causesOf(errors).map(toFault)
}

/** These errors only repeat that there are errors inside; `branch` also ends them. */
const repeating = ['if', 'propertyNames', 'branch']

/** The errors that say something of their own: of a union one. */
export function causesOf (errors: ErrorObject[]): ErrorObject[] {
  const found = errors.filter(({ keyword }) => !repeating.includes(keyword)).map(causeOf)
  const ofType = new Set(found.filter(({ keyword }) => keyword === 'type').map(placeOf))
  const causes = found.filter(error => {
    // A value of another type is none of the allowed ones.
    return !isConsequence(error) && !(isChoice(error) && ofType.has(placeOf(error)))
  })
  // recursion.ts gives the same error to each schema that repeats its check.
  return [...new Set(causes.length > 0 ? causes : found)]
}

function placeOf ({ instancePath }: ErrorObject): string {
  return instancePath
}

function isChoice ({ keyword }: ErrorObject): boolean {
  return keyword === 'enum' || keyword === 'const'
}

/** Whether the value has another type: an int64 is a keyword of its own. */
function isOfType ({ keyword, data }: ErrorObject): boolean {
  return keyword === 'type' || (keyword === 'int64' && !/number|bigint/.test(typeof data))
}

/** Whether an error has a reason that is another error. */
function isConsequence ({ keyword, data, parentSchema }: ErrorObject): boolean {
  // Members that a faulty schema would have evaluated count as unevaluated.
  if (keyword === 'unevaluatedProperties' || keyword === 'unevaluatedItems') return true
  if (keyword !== 'format' || typeof data !== 'number' || Number.isInteger(data)) return false
  // ajv checks format int32 of a fraction, too.
  const types = [parentSchema?.type].flat()
  return types.includes('integer') && !types.includes('number')
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
    return isInside(first) || !(isOfType(first) || isChoice(first))
  })
  if (ofKind.length === 0) {
    const firsts = branches.map(([first]) => first)
    return firsts.every(isChoice) ? withValues(firsts) : withTypes(union, branches)
  }
  const isMiss = missFinder(union)
  const selected = ofKind.filter(errors => !errors.some(isMiss))
  if (selected.length === 0) return withValues(ofKind.flat().filter(isMiss))
  if (areAlike(selected)) return selected.flat()[0] as ErrorObject
  // A member with another value may only mean another branch.
  const cause = selected.flat().find(error => isInside(error) && !isChoice(error))
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
  if (!branches.every(([first]) => isOfType(first))) return union
  const types = new Set(branches.flatMap(([{ params }]) => params.type ?? 'integer'))
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
