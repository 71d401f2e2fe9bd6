// Writes answers as JSON: without the members that their schemas do not declare, and with bigints
// as numbers.
import { declares } from './ajv-rewriter.ts'
import { type ExactNumbers, type Fault, type Key, replaceBigints, writesItself } from './json.ts'
import { mapValues } from './members.ts'
import { memoizeBySchema } from './lazily.ts'
import type { Described } from './records.ts'
import type { Compile, Validate } from './validator.ts'

/** An answer that its schema refuses. */
class InvalidAnswer extends Error {
  constructor ({ path, problem }: Fault) {
    super(`the answer${path && ` at ${path}`} ${problem}`)
  }
}

/**
 * Writes an answer as JSON text, without the members that its schema does not declare.
 * @throws InvalidAnswer
 */
export type Write = (answer: unknown) => string

/**
 * Returns a function that builds one writer per schema.
 * @param compile of createCompiler(), for answers
 */
export function createWriters (compile: Compile): (schema: object) => Write {
  return memoizeBySchema(schema => {
    const validate = compile(schema)
    return answer => {
      const { fault, json = '' } = writeValid(validate, answer)
      if (fault !== undefined) throw new InvalidAnswer(fault)
      return json
    }
  })
}

export type Written = { fault: Fault, json?: undefined } | { fault?: undefined, json: string }

/** Validates an answer, and writes it if it is valid. */
export function writeValid (validate: Validate, answer: unknown): Written {
  const result = validate({ value: answer })
  // The validator counts a member that is undefined, and JSON leaves it out.
  const mayCount = result.fault !== undefined || result.countsMembers?.() === true
  if (mayCount && hasUndefined(answer)) return writeValid(validate, withoutSharing(answer))
  if (result.fault !== undefined) return result
  const { value, exact, described, hasUndeclared } = result
  const { kept, areShared } = hasUndeclared ? joinPlaces(described) : nothingUndeclared
  const copyWith = (write: WriteBigint) => copyDeclared(value, exact, kept, write)
  const copied = kept.size > 0 ? copyWith(toRawJson) : undefined
  // An object that is at two places may have other members at each.
  const isShared = areShared || copied?.isShared === true
  if (isShared) return writeValid(validate, withoutSharing(answer))
  if (copied !== undefined) {
    const sent = () => copyWith(integer => integer).value
    const fault = result.countsMembers?.() && faultOfSent(validate, sent())
    return fault ? { fault } : { json: JSON.stringify(copied.value) }
  }
  const hasBigints = exact.size > 0 && typeof answer === 'object'
  return { json: hasBigints ? writeExact(value, exact) : writeUnchecked(answer) }
}

/** What is left without the undeclared members may break the schema, as by `minProperties`. */
function faultOfSent (validate: Validate, sent: unknown): Fault | undefined {
  const { fault } = validate({ value: sent })
  if (fault === undefined) return undefined
  const problem = `${fault.problem}, without the members that its schema does not declare`
  return { ...fault, problem }
}

/** JSON.stringify() with bigints as numbers, for a value that no schema describes. */
export function writeUnchecked (value: unknown): string {
  try {
    // Only values that JSON does not have are undefined as text.
    return JSON.stringify(value) ?? 'null'
  } catch {
    return JSON.stringify(replaceBigints(value, toRawJson))
  }
}

/** @param exact holds bigints of copies that nobody else has */
function writeExact (value: unknown, exact: ExactNumbers): string {
  for (const [copy, numbers] of exact) {
    for (const [key, number] of numbers) (copy as Holder)[key] = toRawJson(number as bigint)
  }
  return JSON.stringify(value)
}

function toRawJson (integer: bigint): object {
  return JSON.rawJSON(String(integer))
}

type Holder = Record<Key, unknown>

type WriteBigint = (integer: bigint) => unknown

/** Says whether a member is declared. */
type IsKept = (name: string) => boolean

const nothingUndeclared = { kept: new Map<object, IsKept>(), areShared: false }

/**
 * Joins the descriptions of each object, which may have several at one place. `kept` says what to
 * write of the objects that have undeclared members or the method toJSON().
 */
function joinPlaces (described: readonly Described[]) {
  const ofObjects = new Map<object, Described[]>()
  let areShared = false
  for (const description of described) {
    const known = ofObjects.get(description.object)
    if (known === undefined) {
      ofObjects.set(description.object, [description])
      continue
    }
    const [{ holder, key }] = known as [Described]
    areShared ||= description.holder !== holder || description.key !== key
    known.push(description)
  }
  const kept = new Map<object, IsKept>()
  for (const [object, descriptions] of ofObjects) {
    const isKept: IsKept = name => descriptions.some(({ declared }) => declares(declared, name))
    if (writesItself(object) || !Object.keys(object).every(isKept)) kept.set(object, isKept)
  }
  return { kept, areShared }
}

/**
 * Copies a value without undeclared members.
 * @param exact the bigints for which the value has doubles
 */
function copyDeclared (
  value: unknown,
  exact: ExactNumbers,
  kept: Map<object, IsKept>,
  write: WriteBigint
) {
  const seen = new Set<object>()
  let isShared = false

  function copy (value: unknown): unknown {
    if (typeof value === 'bigint') return write(value)
    if (typeof value !== 'object' || value === null) return value
    const isKept = kept.get(value)
    if (isKept === undefined && writesItself(value)) return value
    if (isKept !== undefined) {
      isShared ||= seen.has(value)
      seen.add(value)
    }
    const bigints = exact.get(value)
    const copyMember = (member: unknown, key: Key) => copy(bigints?.get(key) ?? member)
    if (Array.isArray(value)) return value.map(copyMember)
    const members: Holder = {}
    for (const name of Object.keys(value)) {
      if (isKept?.(name) === false) continue
      const member = copyMember((value as Holder)[name], name)
      // A member __proto__ is a member, not the prototype.
      if (name !== '__proto__') members[name] = member
      else Object.defineProperty(members, name, { enumerable: true, value: member })
    }
    return members
  }

  const copied = copy(value)
  return { value: copied, isShared }
}

/** Whether an object in a value has a member that is undefined. */
function hasUndefined (value: unknown): boolean {
  const objects = new Set<object>([Object(value)])
  for (const object of objects) {
    for (const member of Object.values(object)) {
      if (member === undefined && !Array.isArray(object)) return true
      if (typeof member === 'object' && member !== null) objects.add(member)
    }
  }
  return false
}

/** A copy in which no object is at two places, and no member is undefined. */
function withoutSharing (value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutSharing)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const copy = mapValues(Object.fromEntries(members), withoutSharing)
  if (!writesItself(value)) return copy
  return Object.defineProperty(copy, 'toJSON', { value: (key: string) => value.toJSON(key) })
}
