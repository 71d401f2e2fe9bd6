// Removes what a contract does not name from the body of a request: its memory would last as long as the request, and a
// body of 64 KiB may become 1.4 MB.
import { isSchemaObject, referenced } from './schemas.ts'
import type { Schema, Schemas } from './schemas.ts'

/** Keywords with which an object may have members that `properties` does not name, and with which its type has them. */
const openKeywords = [
  'additionalProperties', 'unevaluatedProperties', 'patternProperties', 'anyOf', 'oneOf', 'if', 'dependentSchemas'
]

/**
 * Returns a function that removes the undeclared members of a valid value, but only of its outermost object.
 * The type of a handler's body does not have them.
 */
export function removeUndeclared (schema: Schema, schemas: Schemas): (value: unknown) => unknown {
  const names = declaredNames(schema, schemas)
  if (names === undefined) return value => value
  return value => {
    for (const name in value as object) if (!names.has(name)) return pick(value as object, names)
    return value
  }
}

/** Undefined when an object may have other members, or when the schema is not one of an object. */
function declaredNames (schema: Schema, schemas: Schemas): ReadonlySet<string> | undefined {
  const parts = partsOf(schema, schemas)
  const isOpen = parts.some(part => openKeywords.some(keyword => keyword in part && part[keyword] !== false))
  const members = parts.flatMap(({ properties }) => properties === undefined ? [] : Object.keys(properties as object))
  return isOpen || members.length === 0 ? undefined : new Set(members)
}

/** A schema and those that apply to the same value. */
function partsOf (schema: Schema, schemas: Schemas, outer: readonly Schema[] = []): Schema[] {
  if (outer.includes(schema)) return []
  const inner = [referenced(schemas, schema), ...(schema.allOf as unknown[] | undefined ?? [])].filter(isSchemaObject)
  return [schema, ...inner.flatMap(part => partsOf(part, schemas, [...outer, schema]))]
}

function pick (object: object, names: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.has(name)))
}
