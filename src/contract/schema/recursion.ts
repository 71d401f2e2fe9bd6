// The keyword $ref (JSON Schema 2020-12 core, section 8.2.3.1), which checks an object or a list
// once by a schema that contains itself. By ajv's keyword, each branch of a union checks it again,
// and the time doubles with each level of a value.
import type { CodeKeywordDefinition, ErrorObject, ValidateFunction } from 'ajv'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import ajvReference from 'ajv/dist/vocabularies/core/ref.js'
import { causesOf } from './faults.ts'
import type { Key } from './json.ts'
import { lazily } from './lazily.ts'
import { noRecords, type Records } from './records.ts'
import {
  componentOf, isSchemaObject, mapSubschemas, referenced, type Schema, type Schemas
} from './schemas.ts'

/** What a check has found at a place: a valid value has no errors. */
interface Checked extends Records { errors: ErrorObject[] }

/** What was found, by the check and the place. */
export interface CheckedPlaces extends Records {
  checked: Map<ValidateFunction, Map<object, Map<Key, Checked>>> | undefined
}

/** A reference, and to what it applies: `itself`, a `.member`, any of the `members` or `items`. */
interface Use { $ref: string, component: string, step: string }

const ofMembers = ['patternProperties', 'additionalProperties', 'unevaluatedProperties']
const ofItems = ['items', 'prefixItems', 'contains', 'unevaluatedItems']

function usesIn (schema: Schema, step = 'itself'): Use[] {
  const found: Use[] = []
  const { $ref } = schema
  if (typeof $ref === 'string') found.push({ $ref, component: componentOf($ref), step })
  mapSubschemas(schema, (keyword, inner, name) => {
    if (!isSchemaObject(inner)) return
    if (keyword === 'properties') found.push(...usesIn(inner, `.${name}`))
    else if (ofMembers.includes(keyword)) found.push(...usesIn(inner, 'members'))
    else found.push(...usesIn(inner, ofItems.includes(keyword) ? 'items' : step))
  })
  return found
}

/** Whether several uses may check the same value. */
function mayRepeat (uses: Use[]): boolean {
  // A part is checked inside of its schema, too.
  if (uses.some(({ $ref }) => !$ref.endsWith('#'))) return true
  const steps = new Set(uses.map(({ step }) => step))
  if (steps.has('itself')) return uses.length > 1
  const members = steps.values().filter(step => step.startsWith('.'))
  return steps.size < uses.length || (steps.has('members') && members.some(Boolean))
}

/**
 * Returns a function that says whether the schema of a `$ref` contains itself, and may check a
 * value several times. A single use checks no value more often than the schema around it does.
 */
export function recursionFinder (schemas: Schemas): ($ref: string) => boolean {
  const known = new Map<string, Use[]>()
  const usesOf = ($ref: string) => {
    const uses = known.get($ref) ?? usesIn(referenced(schemas, { $ref }) ?? {})
    known.set($ref, uses)
    return uses
  }
  return $ref => {
    const reached = new Set([$ref])
    const uses: Use[] = []
    const component = componentOf($ref)
    for (const other of reached) {
      for (const use of usesOf(other)) {
        reached.add(use.$ref)
        if (use.component === component) uses.push(use)
      }
    }
    return mayRepeat(uses)
  }
}

/** @param recursive each `$ref` that ajv-rewriter.ts writes for a schema that contains itself */
export function referenceKeyword (recursive: ReadonlySet<string>): CodeKeywordDefinition {
  const { default: definition, callRef } = ajvReference
  return {
    keyword: '$ref',
    schemaType: 'string',
    before: 'const',
    code (context) {
      const { gen, schema: $ref, it: { self } } = context
      if (!recursive.has($ref)) return definition.code(context)
      const check = checkOnce(lazily(() => self.getSchema($ref) as ValidateFunction))
      callRef(context, gen.scopeValue('keyword', { ref: check }))
    }
  }
}

function checkOnce (check: () => ValidateFunction) {
  function once (this: CheckedPlaces, value: unknown, place: DataValidationCxt): boolean {
    if (typeof value !== 'object' || value === null) {
      const isValid = check().call(this as never, value, place)
      once.errors = check().errors
      return isValid
    }
    const { parentData: holder, parentDataProperty: key } = place
    const places = placesIn(this, check(), holder)
    const found = places.get(key) ?? checkApart(this, check(), value, place)
    places.set(key, found)
    if (found.errors.length > 0) {
      // ajv changes the list.
      once.errors = [...found.errors]
      return false
    }
    if (found !== nothing) this.inner.push(found)
    this.hasUndeclared ||= found.hasUndeclared
    return true
  }
  once.errors = null as ValidateFunction['errors']
  return once
}

/** What was found in an object or a list by a check. */
function placesIn (
  validation: CheckedPlaces,
  check: ValidateFunction,
  holder: object
): Map<Key, Checked> {
  const checked = validation.checked ??= new Map()
  const holders = checked.get(check) ?? new Map<object, Map<Key, Checked>>()
  checked.set(check, holders)
  const places = holders.get(holder) ?? new Map<Key, Checked>()
  holders.set(holder, places)
  return places
}

/** For most values, so that they take little memory. */
const nothing: Checked = { ...noRecords(), errors: [] }

/** Checks a value with records of its own. */
function checkApart (
  validation: CheckedPlaces,
  check: ValidateFunction,
  value: unknown,
  place: DataValidationCxt
): Checked {
  const { integers, described, hasUndeclared, inner } = validation
  const records = noRecords()
  Object.assign(validation, records)
  const isValid = check.call(validation as never, value, place)
  records.hasUndeclared = validation.hasUndeclared
  Object.assign(validation, { integers, described, hasUndeclared, inner })
  if (!isValid) {
    // Each level has the errors of one fault: all of them would double with each level, too.
    return { ...nothing, errors: causesOf(check.errors as ErrorObject[]) }
  }
  const lists = [records.integers, records.described, records.inner]
  const isEmpty = !records.hasUndeclared && lists.every(({ length }) => length === 0)
  return isEmpty ? nothing : { ...records, errors: [] }
}
