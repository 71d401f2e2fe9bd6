// The keyword $ref (JSON Schema 2020-12 core, section 8.2.3.1), which checks an object or a list
// once by a schema that contains itself. By ajv's keyword, each branch of a union checks it again,
// and the time doubles with each level of a value.
import type { CodeKeywordDefinition, ErrorObject, ValidateFunction } from 'ajv'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import ajvReference from 'ajv/dist/vocabularies/core/ref.js'
import { withoutRepetitions } from './faults.ts'
import type { Key } from './json.ts'
import { lazily } from './lazily.ts'
import { noRecords, type Records } from './records.ts'
import { referenced, references, type Schema, type Schemas, schemasWithin } from './schemas.ts'

/** What a check has found at a place: a valid value has no errors. */
interface Checked extends Records { errors: ErrorObject[] }

/** What was found, by the check and the place. */
export interface CheckedPlaces extends Records {
  checked: Map<ValidateFunction, Map<object, Map<Key, Checked>>> | undefined
}

/** Keywords by which several schemas apply to a value, or to one of its members or items. */
const repeating = [
  'allOf', 'anyOf', 'oneOf', 'not', 'if', 'dependentSchemas', 'patternProperties', 'contains',
  'unevaluatedProperties', 'unevaluatedItems'
]

const inside = ['properties', 'additionalProperties', 'prefixItems', 'items']

/** Whether a schema applies others besides the one that it refers to, or to one value. */
function repeatsChecks (schema: Schema): boolean {
  if (repeating.some(keyword => keyword in schema)) return true
  return '$ref' in schema && inside.some(keyword => keyword in schema)
}

/**
 * Returns a function that says whether the schema of a `$ref` contains itself, and may check a
 * value several times. One to which, and to whose parts, a single schema refers checks no value
 * more often than that schema does.
 */
export function recursionFinder (schemas: Schemas): ($ref: string) => boolean {
  const known = new Map<string, { references: Set<string>, repeats: boolean }>()
  const describe = ($ref: string) => {
    const schema = referenced(schemas, { $ref }) ?? {}
    const found = known.get($ref) ?? {
      references: references(schema), repeats: schemasWithin(schema).values().some(repeatsChecks)
    }
    known.set($ref, found)
    return found
  }
  const count = lazily(() => countReferences(schemas))
  return $ref => {
    const reached = new Set(describe($ref).references)
    for (const other of reached) for (const next of describe(other).references) reached.add(next)
    const repeats = reached.has($ref) && reached.values().some(other => describe(other).repeats)
    return repeats && count().get(componentOf($ref)) !== 1
  }
}

/** By component. An example may have one, too: a check that is kept does no harm. */
function countReferences (schemas: Schemas): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [, json = ''] of JSON.stringify(schemas).matchAll(/"\$ref":("(?:[^"\\]|\\.)*")/g)) {
    const component = componentOf(JSON.parse(json))
    counts.set(component, (counts.get(component) ?? 0) + 1)
  }
  return counts
}

function componentOf ($ref: string): string {
  return $ref.split('#')[0] as string
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
    const errors = withoutRepetitions(check.errors as ErrorObject[], place.instancePath)
    return { ...nothing, errors }
  }
  const lists = [records.integers, records.described, records.inner]
  const isEmpty = !records.hasUndeclared && lists.every(({ length }) => length === 0)
  return isEmpty ? nothing : { ...records, errors: [] }
}
